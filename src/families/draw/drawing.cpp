// SPDX-License-Identifier: Apache-2.0
#include "families/draw/drawing.h"

#include <algorithm>
#include <map>

namespace penstock::draw {

void Drawing::add(int64_t left, int64_t top, int64_t right, int64_t bottom) {
  left = std::max<int64_t>(left, 0), top = std::max<int64_t>(top, 0);
  right = std::min(right, width_), bottom = std::min(bottom, height_);
  if (left >= right || top >= bottom || inks_.back().opacity == 0) return;
  patches_.push_back({static_cast<int32_t>(left), static_cast<int32_t>(top), static_cast<int32_t>(right),
                      static_cast<int32_t>(bottom), static_cast<int32_t>(inks_.size()) - 1});
}

Canvas canvas_of(const View& v) {
  const ImageRule::Extents e = image_extents(v.shape, v.layout);
  const int c = v.layout.find('C');
  const int64_t channels = c < 0 ? 1 : v.shape[c], pixels = e.height * e.width;
  const bool last = c > v.layout.find('W') || c < 0;
  return {e.outer * e.depth / (last ? 1 : channels),
          e.height,
          e.width,
          channels,
          last ? channels : 1,
          last ? 1 : pixels,
          pixels * channels};
}

namespace {

// A run of n pixels of `bytes` each.
template <int bytes> void paint_run(uint8_t* to, int64_t n, const Ink& ink) {
  for (int64_t i = 0; i < n; ++i)
    for (int k = 0; k < bytes; ++k) to[i * bytes + k] = static_cast<uint8_t>(ink.color[k]);
}
template <int bytes> void paint_opaque(uint8_t* first, int64_t n, int64_t rows, int64_t line, const Ink& ink) {
  constexpr int64_t kShort = 16;
  for (int64_t y = 0; y < rows; ++y) {
    uint8_t* const to = first + y * line;
    if (bytes == 1) std::memset(to, ink.color[0], static_cast<size_t>(n));
    else if (y == 0 || n < kShort) paint_run<bytes>(to, n, ink);
    else std::memcpy(to, first, static_cast<size_t>(n * bytes));
  }
}
// `colored`: color * opacity + 127 for each byte of the run.
void blend(uint8_t* to, int64_t bytes, const uint16_t* colored, int32_t opacity) {
  const auto rest = static_cast<uint16_t>(255 - opacity);
  for (int64_t i = 0; i < bytes; ++i) {
    const auto sum = static_cast<uint16_t>(to[i] * rest + colored[i]);
    to[i] = static_cast<uint8_t>((sum + 1 + (sum >> 8)) >> 8);  // sum / 255
  }
}

// One plane: all channels where they are last.
void paint_patch(uint8_t* plane, const Patch& p, const Ink& ink, const Canvas& c, std::vector<uint16_t>& colored) {
  const int64_t n = p.right - p.left, bytes = n * c.pixel, line = c.width * c.pixel;
  uint8_t* const first = plane + p.top * line + p.left * c.pixel;
  if (ink.opacity == 255) {
    const auto paint = c.pixel == 1   ? paint_opaque<1>
                       : c.pixel == 2 ? paint_opaque<2>
                       : c.pixel == 3 ? paint_opaque<3>
                                      : paint_opaque<4>;
    return paint(first, n, p.bottom - p.top, line, ink);
  }
  colored.resize(static_cast<size_t>(bytes));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < c.pixel; ++k)
      colored[static_cast<size_t>(i * c.pixel + k)] = static_cast<uint16_t>(ink.color[k] * ink.opacity + 127);
  for (int64_t y = 0; y < p.bottom - p.top; ++y) blend(first + y * line, bytes, colored.data(), ink.opacity);
}

void paint(uint8_t* to, const Canvas& c, const Drawing& drawing) {
  std::vector<uint16_t> colored;
  for (int64_t image = 0; image < c.images; ++image)
    for (const Patch& p : drawing.patches())
      if (c.pixel > 1) {
        paint_patch(to + image * c.image, p, drawing.inks()[static_cast<size_t>(p.ink)], c, colored);
      } else {
        Ink ink = drawing.inks()[static_cast<size_t>(p.ink)];
        for (int64_t k = 0; k < c.channels; ++k) {
          ink.color[0] = drawing.inks()[static_cast<size_t>(p.ink)].color[k];
          paint_patch(to + image * c.image + k * c.plane, p, ink, c, colored);
        }
      }
}

template <class T> void append(std::vector<std::byte>& to, const std::vector<T>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// The tiles that patches touch, with what the kernel reads.
std::shared_ptr<const std::vector<std::byte>> tile_table(const Drawing& drawing, DrawRow& row) {
  std::map<std::pair<int32_t, int32_t>, std::vector<int32_t>> touched;
  for (size_t k = 0; k < drawing.patches().size(); ++k) {
    const Patch& p = drawing.patches()[k];
    for (int32_t y = p.top / kTileHeight; y <= (p.bottom - 1) / kTileHeight; ++y)
      for (int32_t x = p.left / kTileWidth; x <= (p.right - 1) / kTileWidth; ++x)
        touched[{y, x}].push_back(static_cast<int32_t>(k));
  }
  std::vector<Tile> tiles;
  std::vector<int32_t> listed;
  for (const auto& [at, numbers] : touched) {
    const auto begin = static_cast<int32_t>(listed.size());
    listed.insert(listed.end(), numbers.begin(), numbers.end());
    tiles.push_back({at.second * kTileWidth, at.first * kTileHeight, begin, static_cast<int32_t>(listed.size())});
  }
  row.tiles = static_cast<int64_t>(tiles.size()), row.listed = static_cast<int64_t>(listed.size());
  row.patches = static_cast<int64_t>(drawing.patches().size());
  row.inks = static_cast<int64_t>(drawing.inks().size());
  std::vector<std::byte> table;
  append(table, tiles), append(table, drawing.patches()), append(table, drawing.inks()), append(table, listed);
  return std::make_shared<const std::vector<std::byte>>(std::move(table));
}

}  // namespace

void draw(const View& in, const View& out, Drawing drawing, SampleWork& to) {
  if (out.volume() == 0) return;
  if (in.data != out.data) to.copy(in, out), to.then();
  if (drawing.patches().empty()) return;
  const Canvas c = canvas_of(out);
  if (to.at_once()) return paint(out.as<uint8_t>(), c, drawing);
  DrawRow row{out.data, c.height, c.width, c.channels, c.pixel, c.plane, c.image, 0, 0, 0, 0, {}};
  KernelStep step;
  step.kernel = {"families/draw/kernels/tiles.h", "draw::draw_tiles", {DType::uint8}, {}, nullptr, 1};
  step.data = tile_table(drawing, row);
  step.row = row_bytes(row);
  step.work = row.tiles * c.images;
  step.data_member = offsetof(DrawRow, table);
  to.kernel(std::move(step));
}

}  // namespace penstock::draw
