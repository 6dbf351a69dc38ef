// SPDX-License-Identifier: Apache-2.0
// AVIF and HEIC: our own reader for the boxes; libheif, loaded at run time, for the coded pictures.
#include <algorithm>
#include <cstring>

#include "codecs/heif/color_rows.h"
#include "codecs/image_format.h"
#include "codecs/pixel_rows.h"

namespace penstock {

namespace {

using namespace heif;

// The region to decode: `r` extended on all sides by the samples that chroma interpolation reads, to even edges because
// a chroma sample covers two pixels.
Region padded(const Region& r, const Picture& p) {
  Region part;
  part.y = std::max<int64_t>(r.y - 2, 0) & ~1, part.x = std::max<int64_t>(r.x - 2, 0) & ~1;
  part.height = std::min((r.y + r.height + 3) & ~1, p.height) - part.y;
  part.width = std::min((r.x + r.width + 3) & ~1, p.width) - part.x;
  return part;
}

// Without these limits, a few bytes in a header would take much memory or time.
void check_sizes(const Picture& p, const DecodeParams& params) {
  const int64_t max_pixels = params.max_pixels;
  const CodedItem& tile = p.tiles[0];
  if (p.width > max_pixels / p.height || tile.width > max_pixels / tile.height ||
      tile.width * tile.height > params.times_max_pixels(4) / static_cast<int64_t>(p.tiles.size()))
    bad_data("HEIF: {} tiles of {} x {} for {} x {} pixels are more than the limit of {}", p.tiles.size(), tile.height,
             tile.width, p.height, p.width, max_pixels);
}

// The header of an item's coded data, wherever it is. It may exceed the size in the boxes by as much as encoders round
// up.
CodedHeader header_of(Codec codec, const CodedItem& item, const std::vector<uint8_t>& coded) {
  CodedHeader first = read_configuration(codec, item.configuration);
  std::vector<CodedHeader> all = headers_within(codec, item.configuration, coded);
  if (all.empty() && codec == Codec::av1 && !first.width) bad_data("AVIF: the coded data has no sequence header");
  if (codec == Codec::av1 && !all.empty()) first = all.front();
  all.push_back(first);
  for (const CodedHeader& h : all) {
    if (h.width < item.width || h.height < item.height || h.width >= item.width + 64 || h.height >= item.height + 64)
      bad_data("HEIF: the boxes say {} x {} pixels, but the coded data says {} x {}", item.height, item.width, h.height,
               h.width);
    if (h.bits != first.bits || h.chroma != first.chroma)
      bad_data("HEIF: the headers of the coded data are inconsistent");
  }
  return first;
}

struct Copied {
  int64_t y, x, height, width;
};

void copy_plane(const Plane& from, const Copied& r, int64_t from_y, int64_t from_x, int bytes, int64_t to_row,
                uint8_t* to) {
  for (int64_t y = 0; y < r.height; ++y) {
    uint8_t* out = to + (r.y + y) * to_row + r.x * bytes;
    const uint8_t* in = from.data + (from_y + y) * from.row_bytes + from_x * from.step * bytes;
    for (int64_t x = 0; x < r.width; ++x) std::memcpy(out + x * bytes, in + x * from.step * bytes, bytes);
  }
}

DecodedPart decode_part(Bytes file, Codec codec, const Picture& p, const std::optional<Colors>& colors,
                        const Region& region, bool luma_alone) {
  DecodedPart d;
  const bool single = p.tiles.size() == 1;
  d.part = single ? Region{0, 0, p.height, p.width} : padded(region, p);
  const int64_t h = p.tiles[0].height, w = p.tiles[0].width;
  // From the first tile, whichever is decoded first.
  d.colors = colors ? *colors : header_of(codec, p.tiles[0], coded_bytes(file, p.tiles[0])).colors;
  bool first = true;
  for (int64_t row = d.part.y / h; row * h < d.part.y + d.part.height; ++row)
    for (int64_t column = d.part.x / w; column * w < d.part.x + d.part.width; ++column) {
      const CodedItem& tile = p.tiles[row * p.columns + column];
      const std::vector<uint8_t> coded = coded_bytes(file, tile);
      const CodedHeader header = header_of(codec, tile, coded);
      const DecodedItem item = decode_item(codec, tile, coded, header);
      if (first) {
        d.bits = item.bits, d.chroma = luma_alone ? Chroma::none : item.chroma;
        if (single) {
          std::copy(std::begin(item.planes), std::end(item.planes), d.planes);
          d.owner = item.owner;
          return d;
        }
      }
      const bool half_y = d.chroma == Chroma::half_both, half_x = half_y || d.chroma == Chroma::half_width;
      if (item.bits != d.bits || (!luma_alone && item.chroma != d.chroma))
        bad_data("HEIF: the tiles have different pixel formats");
      if ((half_y && p.rows > 1 && h % 2) || (half_x && p.columns > 1 && w % 2))
        bad_data("HEIF: tiles of {} x {} split a chroma sample", h, w);
      const int bytes = d.bits > 8 ? 2 : 1;
      const int64_t y0 = std::max(d.part.y, row * h), y1 = std::min(d.part.y + d.part.height, (row + 1) * h);
      const int64_t x0 = std::max(d.part.x, column * w), x1 = std::min(d.part.x + d.part.width, (column + 1) * w);
      for (int c = 0; c < (d.chroma == Chroma::none ? 1 : 3); ++c) {
        const int dy = c && half_y ? 2 : 1, dx = c && half_x ? 2 : 1;
        const int64_t plane_height = (d.part.height + dy - 1) / dy, plane_width = (d.part.width + dx - 1) / dx;
        if (first) {
          d.joined[c].resize(plane_height * plane_width * bytes);
          d.planes[c] = {d.joined[c].data(), plane_width * bytes, plane_height, plane_width};
        }
        const Copied r{(y0 - d.part.y) / dy, (x0 - d.part.x) / dx, (y1 - y0 + dy - 1) / dy, (x1 - x0 + dx - 1) / dx};
        copy_plane(item.planes[c], r, (y0 - row * h) / dy, (x0 - column * w) / dx, bytes, plane_width * bytes,
                   d.joined[c].data());
      }
      first = false;
    }
  return d;
}

class Libheif final : public DecoderByHeader<HeifFile> {
 public:
  const char* name() const override { return "heif/libheif"; }

  HeifFile read_header(Bytes file) const override { return read_heif(file); }
  ImageInfo describe(const HeifFile& h) const override {
    return {.height = h.shown.height,
            .width = h.shown.width,
            .channels = channels_of(h),
            .dtype = h.coded.bits > 8 ? DType::uint16 : DType::uint8,
            .orientation = h.orientation};
  }

  void decode_region(Bytes file, const HeifFile& h, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) const override {
    check_sizes(h.color, params);
    const Region part{h.shown.y + region.y, h.shown.x + region.x, region.height, region.width};
    const DecodedPart color = decode_part(file, h.codec, h.color, h.colors, part, false);
    if (color.chroma != h.coded.chroma || color.bits != h.coded.bits)
      bad_data("HEIF: the coded data has a different format than the boxes say");
    DecodedPart alpha;
    const bool has_alpha = h.alpha && params.type == ImageType::any_data;
    if (has_alpha) {
      check_sizes(*h.alpha, params);
      alpha = decode_part(file, *h.alpha_codec, *h.alpha, std::nullopt, part, true);
      if (*h.alpha_codec == Codec::hevc) alpha.colors.full_range = true;  // writers of HEVC do not state it
    }
    ColorRows rows(color, has_alpha ? &alpha : nullptr, part);
    const RowConversion conversion{rows.channels(), rows.dtype(), params.type, params.dtype};
    store_rows(conversion, {0, 0, region.height, region.width}, sink, [&](int64_t y) { return rows.row(part.y + y); });
  }

 private:
  static int channels_of(const HeifFile& h) { return (h.coded.chroma == Chroma::none ? 1 : 3) + (h.alpha ? 1 : 0); }
};

const Libheif libheif;

PENSTOCK_IMAGE_FORMAT({
    .id = "heif",
    .title = "AVIF, HEIC",
    .place = 60,
    .signatures = {{4, "ftyp"}},
    .agrees = &is_heif,
    .suffixes = {".avif", ".avifs", ".heic", ".heics", ".heif", ".heifs", ".hif"},
    .decoders = {&libheif},
    .taken = "the primary picture, also of a sequence; 8 to 12 bits (HEVC: to 16), 4:0:0 to 4:4:4, grids, alpha, "
             "`clap`, `irot`, `imir`",
    .window_reads = "the tiles of a grid that it touches, else all",
    .library = "libheif, loaded at run time; boxes, headers and colors: our own",
    .needs = "libheif",
});

}  // namespace

}  // namespace penstock
