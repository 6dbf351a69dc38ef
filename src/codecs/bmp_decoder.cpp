// SPDX-License-Identifier: Apache-2.0
// Windows bitmaps (BMP) and OS/2 1 bitmaps: 1, 4 and 8 bits with a palette, also run-length encoded; 16, 24 and 32
// bits, also with masks. A palette of grays gives 1 channel, any other 3; an alpha mask gives 4. The fourth byte of 32
// bits without masks is not alpha. JPEG and PNG in BMP are rejected. Source: Microsoft's description of
// BITMAPINFOHEADER to BITMAPV5HEADER.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"
#include "codecs/image_format.h"
#include "codecs/pixel_rows.h"

namespace penstock {

namespace {

constexpr size_t kFileHeader = 14;
enum Compression : uint32_t { kNone = 0, kRle8 = 1, kRle4 = 2, kMasks = 3, kMasksWithAlpha = 6 };

struct Header {
  int64_t height = 0, width = 0;
  bool top_down = false;
  uint32_t bits = 24, compression = kNone;
  uint32_t masks[4] = {0x00FF0000, 0x0000FF00, 0x000000FF, 0};  // red, green, blue, alpha
  uint8_t palette[256][3] = {};                                 // RGB
  bool gray = false;                                            // the palette has only grays
  size_t pixels = 0;

  bool indexed() const { return bits <= 8; }
  int channels() const { return indexed() ? (gray ? 1 : 3) : masks[3] ? 4 : 3; }
  int64_t row_bytes() const { return (width * bits + 31) / 32 * 4; }
};

void read_palette(Bytes file, size_t at, size_t entry, uint32_t used, Header& h) {
  const size_t room = std::min(h.pixels, file.size()), most = size_t{1} << h.bits;
  const size_t count = std::min({used ? size_t{used} : most, most, at < room ? (room - at) / entry : 0});
  if (count == 0) bad_data("BMP: the palette is missing");
  h.gray = true;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* p = &file[at + i * entry];
    for (int c = 0; c < 3; ++c) h.palette[i][c] = p[2 - c];
    h.gray &= p[0] == p[1] && p[1] == p[2];
  }
}

void check(const Header& h) {
  constexpr int64_t kLongest = 0x7FFFFFFF;
  if (h.width < 1 || h.height < 1 || h.width > kLongest || h.height > kLongest)
    bad_data("BMP: the header says {} x {} pixels", h.height, h.width);
  const uint32_t b = h.bits, c = h.compression;
  const bool known = (c == kNone && (b == 1 || b == 4 || b == 8 || b == 16 || b == 24 || b == 32)) ||
                     (c == kRle8 && b == 8) || (c == kRle4 && b == 4) ||
                     ((c == kMasks || c == kMasksWithAlpha) && (b == 16 || b == 32));
  if (!known) bad_data("BMP: {} bits per pixel with compression {} are not supported", b, c);
  for (const uint32_t mask : h.masks)
    if (mask && !std::has_single_bit((mask >> std::countr_zero(mask)) + uint64_t{1}))
      bad_data("BMP: the mask {:#x} has gaps", mask);
}

Header read_header(Bytes file) {
  if (file.size() < kFileHeader + 12) ends_early("BMP: the file of {} bytes ends in the header", file.size());
  const uint8_t* p = &file[kFileHeader];
  const uint32_t size = le32(p);
  if (size != 12 && (size < 40 || size > 4096)) bad_data("BMP: a header of {} bytes does not exist", size);
  if (file.size() - kFileHeader < size) ends_early("BMP: the file of {} bytes ends in the header", file.size());
  Header h;
  h.pixels = le32(&file[10]);
  size_t palette = kFileHeader + size;
  if (size == 12) {
    h.width = le16(p + 4), h.height = le16(p + 6), h.bits = le16(p + 10);
  } else {
    h.width = static_cast<int32_t>(le32(p + 4));
    h.height = static_cast<int32_t>(le32(p + 8));
    h.top_down = h.height < 0;
    h.height = std::abs(h.height);
    h.bits = le16(p + 14), h.compression = le32(p + 16);
  }
  if (h.bits == 16) h.masks[0] = 0x7C00, h.masks[1] = 0x03E0, h.masks[2] = 0x001F;
  if (h.compression == kMasks || h.compression == kMasksWithAlpha) {
    // The masks follow a header of 40 bytes, and are in a longer one.
    const int masks = h.compression == kMasksWithAlpha || size >= 56 ? 4 : 3;
    if (size < 52) palette += 4 * masks;
    if (file.size() < kFileHeader + 40 + 4 * masks) ends_early("BMP: the file ends in the header");
    for (int c = 0; c < masks; ++c) h.masks[c] = le32(p + 40 + 4 * c);
  }
  check(h);
  if (h.indexed()) read_palette(file, palette, size == 12 ? 3 : 4, size == 12 ? 0 : le32(p + 32), h);
  return h;
}

// Pixels that no run reaches have index 0.
std::vector<uint8_t> read_runs(Bytes file, const Header& h) {
  std::vector<uint8_t> indexes(static_cast<size_t>(h.width * h.height));
  size_t at = h.pixels;
  int64_t x = 0, y = 0;  // y in the order of the file
  const bool nibbles = h.compression == kRle4;
  const auto row = [&] { return h.top_down ? y : h.height - 1 - y; };
  auto need = [&](size_t bytes) {
    if (at > file.size() || file.size() - at < bytes)
      ends_early("BMP: premature end of file at row {} of {}", row(), h.height);
  };
  auto put = [&](uint8_t index) {
    if (x < h.width && y < h.height) indexes[row() * h.width + x] = index;
    ++x;
  };
  while (y < h.height) {
    need(2);
    const int count = file[at], value = file[at + 1];
    at += 2;
    if (count) {
      for (int i = 0; i < count; ++i) put(nibbles ? (i % 2 ? value & 15 : value >> 4) : value);
    } else if (value == 0) {
      x = 0, ++y;
    } else if (value == 1) {
      break;
    } else if (value == 2) {
      need(2);
      x += file[at], y += file[at + 1];
      at += 2;
    } else {
      const size_t bytes = nibbles ? (value + 1) / 2 : value;
      need(bytes);
      for (int i = 0; i < value; ++i) put(nibbles ? file[at + i / 2] >> (i % 2 ? 0 : 4) & 15 : file[at + i]);
      at += (bytes + 1) / 2 * 2;
    }
  }
  return indexes;
}

struct Channel {
  uint32_t mask, top;
  int shift;
  explicit Channel(uint32_t m) : mask(m), top(m ? m >> std::countr_zero(m) : 1), shift(m ? std::countr_zero(m) : 0) {}
  uint8_t of(uint32_t pixel) const {
    const uint64_t v = (pixel & mask) >> shift;
    return static_cast<uint8_t>(top == 255 ? v : (v * 255 + top / 2) / top);
  }
};

class Bmp final : public DecoderByHeader<Header> {
 public:
  const char* name() const override { return "bmp/penstock"; }

  Header read_header(Bytes file) const override { return penstock::read_header(file); }
  ImageInfo describe(const Header& h) const override {
    return {.height = h.height, .width = h.width, .channels = h.channels()};
  }

  void decode_region(Bytes file, const Header& h, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) const override {
    const int n = h.channels();
    const RowConversion conversion{n, DType::uint8, params.type, params.dtype};
    std::vector<uint8_t> row(static_cast<size_t>(h.width) * n), indexes;
    if (h.compression == kRle8 || h.compression == kRle4) indexes = read_runs(file, h);
    const Channel channels[4] = {Channel(h.masks[0]), Channel(h.masks[1]), Channel(h.masks[2]), Channel(h.masks[3])};
    store_rows(conversion, region, sink, [&](int64_t y) {
      const int64_t stored = h.top_down ? y : h.height - 1 - y;
      const uint8_t* in = indexes.empty() ? nullptr : &indexes[y * h.width];
      if (!in) {
        const uint64_t begin = h.pixels + static_cast<uint64_t>(stored) * h.row_bytes();
        if (begin > file.size() || file.size() - begin < static_cast<uint64_t>((h.width * h.bits + 7) / 8))
          ends_early("BMP: premature end of file at row {} of {}", y, h.height);
        in = &file[begin];
      }
      uint8_t* out = row.data();
      if (h.indexed()) {
        const uint32_t bits = indexes.empty() ? h.bits : 8;
        for (int64_t x = 0; x < h.width; ++x, out += n) {
          const int64_t bit = x * bits;
          const int index = in[bit / 8] >> (8 - bits - bit % 8) & ((1 << bits) - 1);
          std::memcpy(out, h.palette[index], n);
        }
      } else if (h.bits == 24) {
        for (int64_t x = 0; x < h.width; ++x, in += 3, out += 3) out[0] = in[2], out[1] = in[1], out[2] = in[0];
      } else {
        for (int64_t x = 0; x < h.width; ++x, in += h.bits / 8, out += n) {
          const uint32_t pixel = h.bits == 16 ? le16(in) : le32(in);
          for (int c = 0; c < n; ++c) out[c] = channels[c].of(pixel);
        }
      }
      return row.data();
    });
  }
};

const Bmp bmp;

PENSTOCK_IMAGE_FORMAT({
    .id = "bmp",
    .title = "BMP",
    .place = 70,
    .signatures = {{0, "BM"}},
    .suffixes = {".bmp", ".dib"},
    .read_by_default = {30, {".bmp"}},
    .decoders = {&bmp},
    .taken = "1 to 32 bits, palettes, masks, run-length encoding, top-down and bottom-up",
    .window_reads = "its rows",
    .library = "our own",
});

}  // namespace

}  // namespace penstock
