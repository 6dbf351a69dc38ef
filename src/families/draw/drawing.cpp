// SPDX-License-Identifier: Apache-2.0
#include "families/draw/drawing.h"

#include <cstring>
#include <map>
#include <type_traits>

namespace penstock::draw {

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

// Pixels of one ink, one after the other.
template <int bytes> struct PixelPattern {
  static constexpr int64_t kPiece = 16;
  uint8_t at[kPiece + bytes];
  explicit PixelPattern(const Ink& ink) {
    for (int64_t i = 0; i < kPiece + bytes; ++i) at[i] = static_cast<uint8_t>(ink.color[i % bytes]);
  }
  // `total` bytes of pixels in few pieces, which may overlap.
  void put(uint8_t* to, int64_t total) const {
    const auto piece = [&]<size_t size>(std::integral_constant<size_t, size>, int64_t from) {
      std::memcpy(to + from, at + from % bytes, size);
    };
    const auto both = [&](auto size) { piece(size, 0), piece(size, total - static_cast<int64_t>(size())); };
    if (total >= kPiece) {
      const std::integral_constant<size_t, kPiece> size;
      for (int64_t i = 0; i + kPiece <= total; i += kPiece) piece(size, i);
      piece(size, total - kPiece);
    } else if (total >= 8) {
      both(std::integral_constant<size_t, 8>{});
    } else if (total >= 4) {
      both(std::integral_constant<size_t, 4>{});
    } else {
      for (int64_t i = 0; i < total; ++i) to[i] = at[i];
    }
  }
};
template <int bytes>
void paint_opaque(uint8_t* first, int64_t n, int64_t rows, int64_t line, const PixelPattern<bytes>& pixels) {
  if (n == 1) {
    for (int64_t y = 0; y < rows; ++y) std::memcpy(first + y * line, pixels.at, bytes);
  } else {
    for (int64_t y = 0; y < rows; ++y) pixels.put(first + y * line, n * bytes);
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

// One plane: all channels where they are last. Few patches have many pixels: lines are many short ones.
template <int bytes> void paint_plane(uint8_t* plane, const Canvas& c, const Drawing& drawing, int64_t channel) {
  std::vector<uint16_t> colored;
  const int64_t line = c.width * bytes;
  Ink ink{};
  PixelPattern<bytes> pixels(ink);
  int32_t held = -1;
  for (const Patch& p : drawing.patches()) {
    if (p.ink != held) {
      held = p.ink, ink = drawing.inks()[static_cast<size_t>(p.ink)];
      if (bytes == 1) ink.color[0] = ink.color[channel];
      pixels = PixelPattern<bytes>(ink);
    }
    const int64_t n = p.right - p.left, rows = p.bottom - p.top;
    uint8_t* const first = plane + p.top * line + int64_t{p.left} * bytes;
    if (ink.opacity == 255) {
      paint_opaque(first, n, rows, line, pixels);
      continue;
    }
    colored.resize(static_cast<size_t>(n * bytes));
    for (int64_t i = 0; i < n; ++i)
      for (int k = 0; k < bytes; ++k)
        colored[static_cast<size_t>(i * bytes + k)] = static_cast<uint16_t>(ink.color[k] * ink.opacity + 127);
    for (int64_t y = 0; y < rows; ++y) blend(first + y * line, n * bytes, colored.data(), ink.opacity);
  }
}

void paint(uint8_t* to, const Canvas& c, const Drawing& drawing) {
  const auto plane = c.pixel == 1   ? paint_plane<1>
                     : c.pixel == 2 ? paint_plane<2>
                     : c.pixel == 3 ? paint_plane<3>
                                    : paint_plane<4>;
  for (int64_t image = 0; image < c.images; ++image)
    for (int64_t k = 0; k < (c.pixel > 1 ? 1 : c.channels); ++k)
      plane(to + image * c.image + k * c.plane, c, drawing, k);
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
