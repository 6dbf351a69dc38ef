// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg2000_header.h"

#include <algorithm>
#include <cstring>

#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"

namespace penstock {

namespace {

constexpr int kMostComponents = 64;
enum Marker : uint32_t {
  kStart = 0xFF4F,
  kSize = 0xFF51,
  kStyle = 0xFF52,
  kComponentStyle = 0xFF53,
  kTilePart = 0xFF90,
  kData = 0xFF93,
  kEnd = 0xFFD9
};

uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

struct Grid {  // the sizes in SIZ
  uint64_t x1, y1, x0, y0, tile_width, tile_height, tile_x0, tile_y0;
  uint64_t tiles() const { return ceil_div(x1 - tile_x0, tile_width) * ceil_div(y1 - tile_y0, tile_height); }
};

[[noreturn]] void cut(Bytes file) { ends_early("JPEG 2000: the file of {} bytes ends in the header", file.size()); }

Grid read_size(Bytes segment, Jpeg2000Header& h, Bytes file) {
  if (segment.size() < 38) cut(file);
  const uint8_t* p = segment.data() + 2;
  const Grid g{be32(p + 2),  be32(p + 6),  be32(p + 10), be32(p + 14),
               be32(p + 18), be32(p + 22), be32(p + 26), be32(p + 30)};
  h.components = static_cast<int>(be16(p + 34));
  if (g.x1 <= g.x0 || g.y1 <= g.y0 || g.x1 > 0x7FFFFFFF || g.y1 > 0x7FFFFFFF)
    bad_data("JPEG 2000: the header says an area from ({}, {}) to ({}, {})", g.y0, g.x0, g.y1, g.x1);
  if (!g.tile_width || !g.tile_height || g.tile_x0 > g.x0 || g.tile_y0 > g.y0 || g.tile_x0 + g.tile_width <= g.x0 ||
      g.tile_y0 + g.tile_height <= g.y0)
    bad_data("JPEG 2000: tiles of {} x {} do not cover the picture", g.tile_height, g.tile_width);
  if (h.components < 1 || h.components > kMostComponents)
    bad_data("JPEG 2000: {} components are not between 1 and {}", h.components, kMostComponents);
  if (segment.size() < 38 + 3 * static_cast<size_t>(h.components)) cut(file);
  h.bits = 0;
  for (int c = 0; c < h.components; ++c) {
    const uint8_t* component = p + 36 + 3 * c;
    const int bits = (component[0] & 127) + 1;
    if (bits > 16) bad_data("JPEG 2000: samples of {} bits are more than 16", bits);
    if (!component[1] || !component[2]) bad_data("JPEG 2000: a component has no samples");
    h.bits = std::max(h.bits, bits);
    h.subsampled |= component[1] != 1 || component[2] != 1;
  }
  h.left = static_cast<int64_t>(g.x0), h.top = static_cast<int64_t>(g.y0);
  h.width = static_cast<int64_t>(g.x1 - g.x0), h.height = static_cast<int64_t>(g.y1 - g.y0);
  // Each tile has a header of at least 14 bytes.
  if (g.tiles() > file.size() / 14)
    ends_early("JPEG 2000: premature end of file: {} bytes cannot hold {} tiles", file.size(), g.tiles());
  return g;
}

// A packet has at least one byte, and each layer has one for each precinct. `style` begins with the number of levels.
void check_precincts(Bytes style, bool own_sizes, uint64_t layers, const Grid& g, int components, Bytes file) {
  if (style.size() < 5) cut(file);
  const size_t levels = style[0];
  if (levels > 32) bad_data("JPEG 2000: {} levels are more than 32", levels);
  if (style[1] > 8 || style[2] > 8 || style[1] + style[2] > 8) bad_data("JPEG 2000: invalid size of code-blocks");
  if (own_sizes && style.size() < 6 + levels) cut(file);
  uint64_t packets = 0;
  for (size_t r = 0; r <= levels; ++r) {
    const unsigned size = own_sizes ? style[5 + r] : 0xFF;
    const size_t reduce = levels - r;
    if (r > 0 && own_sizes && (!(size & 15) || !(size >> 4))) bad_data("JPEG 2000: invalid size of precincts");
    const uint64_t width = std::max<uint64_t>(std::min(g.x1 - g.x0, g.tile_width) >> reduce, 1);
    const uint64_t height = std::max<uint64_t>(std::min(g.y1 - g.y0, g.tile_height) >> reduce, 1);
    packets += std::max<uint64_t>(width >> (size & 15), 1) * std::max<uint64_t>(height >> (size >> 4), 1);
  }
  packets *= layers;  // of one tile: OpenJPEG keeps one at a time
  if (packets * components > 64 + file.size())
    ends_early("JPEG 2000: premature end of file: {} bytes cannot hold {} packets", file.size(), packets * components);
}

// Reads the segments of the main header and of all tile-parts.
void read_codestream(Bytes file, size_t at, Jpeg2000Header& h) {
  if (file.size() - at < 4 || be16(&file[at]) != kStart || be16(&file[at + 2]) != kSize)
    bad_data("JPEG 2000: the codestream does not start with its size");
  Grid grid{};
  uint64_t layers = 1;
  bool sized = false, tiled = false;
  size_t tile_part = 0, tile_end = 0;
  for (at += 2; at + 4 <= file.size();) {
    const uint32_t marker = be16(&file[at]);
    if (marker == kEnd) break;
    if (marker == kData) {
      if (tile_end <= at) {  // the last part, which extends to the end, or damage: always go forward
        h.cut |= tile_end == 0 && be16(&file[file.size() - 2]) != kEnd;
        break;
      }
      h.cut |= tile_end > file.size();
      at = tile_end;
      tile_end = 0;
      continue;
    }
    const size_t length = be16(&file[at + 2]);
    if (length < 2 || file.size() - at - 2 < length) break;  // OpenJPEG reports what is missing
    const Bytes body = file.subspan(at + 2, length);
    if (marker == kSize && !sized) {
      grid = read_size(body, h, file);
      sized = true;
    } else if (marker == kStyle && sized) {
      if (length < 12) cut(file);
      layers = be16(&body[4]);
      check_precincts(body.subspan(7), body[2] & 1, layers, grid, h.components, file);
    } else if (marker == kComponentStyle && sized) {
      const size_t index = h.components < 257 ? 1 : 2;
      if (length < 2 + index + 6) cut(file);
      check_precincts(body.subspan(2 + index + 1), body[2 + index] & 1, layers, grid, 1, file);
    } else if (marker == kTilePart && sized) {
      if (length != 10) bad_data("JPEG 2000: a tile-part header has {} bytes instead of 10", length);
      const size_t bytes = be32(&body[4]);
      if (bytes && bytes < 14) bad_data("JPEG 2000: a tile-part of {} bytes is too short", bytes);
      tile_part = at;
      tile_end = bytes ? tile_part + bytes : 0;
      tiled = true;
    }
    at += 2 + length;
  }
  if (!sized || !tiled) cut(file);
}

// Reads the boxes of a JP2 file, up to the codestream's.
void read_boxes(Bytes file, size_t at, size_t end, Jpeg2000Header& h, int depth, size_t& codestream) {
  while (!codestream && end - at >= 8) {
    uint64_t length = be32(&file[at]);
    size_t header = 8;
    if (length == 1) {
      if (end - at < 16) cut(file);
      length = uint64_t{be32(&file[at + 8])} << 32 | be32(&file[at + 12]);
      header = 16;
    }
    if (length == 0) length = end - at;
    if (length < header) bad_data("JPEG 2000: a box has an invalid size of {} bytes", length);
    const auto is = [&](const char* name) { return !std::memcmp(&file[at + 4], name, 4); };
    const size_t body = at + header;
    if (is("jp2c")) {
      codestream = body;
      return;
    }
    if (length > end - at) cut(file);
    const size_t size = length - header;
    if (is("jp2h") && depth == 0) read_boxes(file, body, at + length, h, 1, codestream);
    if (is("pclr") && size >= 4) {
      h.palette_columns = file[body + 2];
      if (size < 3 + static_cast<size_t>(h.palette_columns)) cut(file);
      h.palette_bits = 1;
      for (int c = 0; c < h.palette_columns; ++c)
        h.palette_bits = std::max(h.palette_bits, (file[body + 3 + c] & 127) + 1);
      if (h.palette_columns < 1 || h.palette_bits > 16)
        bad_data("JPEG 2000: a palette of {} columns with {} bits is not supported", h.palette_columns, h.palette_bits);
    }
    if (is("colr") && size >= 7 && file[body] == 1) h.ycc = be32(&file[body + 3]) == 18;
    at += length;
  }
}

}  // namespace

Jpeg2000Header read_jpeg2000_header(Bytes file) {
  if (file.size() < 12) cut(file);
  Jpeg2000Header h;
  size_t codestream = 0;
  if (be16(file.data()) != kStart) {
    h.boxed = true;
    read_boxes(file, 0, file.size(), h, 0, codestream);
    if (!codestream) bad_data("JPEG 2000: the file contains no codestream");
  }
  read_codestream(file, codestream, h);
  return h;
}

}  // namespace penstock
