// SPDX-License-Identifier: Apache-2.0
// GIF (87a, 89a): the first picture on its canvas, 3 channels, or 4 if one index is transparent. The part of the canvas
// that the picture does not cover has the transparent index, else the background's. Source: CompuServe's Graphics
// Interchange Format, version 89a.
#include <algorithm>
#include <cstring>

#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"
#include "codecs/image_format.h"
#include "codecs/pixel_rows.h"

namespace penstock {

namespace {

struct Header {
  int64_t height = 0, width = 0;                     // of the canvas
  int64_t left = 0, top = 0, columns = 0, rows = 0;  // of the first picture
  bool interlaced = false;
  int transparent = -1, background = 0;
  const uint8_t* colors = nullptr;
  int count = 0;     // of colors
  size_t codes = 0;  // offset of the picture's codes
};

class Reader {
 public:
  explicit Reader(Bytes file) : file_(file) {}
  const uint8_t* take(size_t bytes) {
    if (file_.size() - at < bytes) ends_early("GIF: the file of {} bytes ends in the header", file_.size());
    at += bytes;
    return file_.data() + at - bytes;
  }
  size_t at = 0;

 private:
  Bytes file_;
};

void take_colors(Reader& in, int flags, Header& h) {
  if (!(flags & 0x80)) return;
  h.count = 2 << (flags & 7);
  h.colors = in.take(3 * static_cast<size_t>(h.count));
}

Header read_header(Bytes file) {
  Reader in(file);
  const uint8_t* p = in.take(13);
  Header h;
  h.width = le16(p + 6), h.height = le16(p + 8), h.background = p[11];
  if (h.width < 1 || h.height < 1) bad_data("GIF: the header says {} x {} pixels", h.height, h.width);
  take_colors(in, p[10], h);
  if (h.background >= h.count) h.background = 0;
  for (;;) {
    const int kind = *in.take(1);
    if (kind == 0x2C) break;
    if (kind == 0x3B) bad_data("GIF: the file contains no picture");
    if (kind != 0x21) bad_data("GIF: unknown block type {:#x} at byte {}", kind, in.at - 1);
    const bool control = *in.take(1) == 0xF9;
    for (int length = *in.take(1); length; length = *in.take(1)) {
      const uint8_t* block = in.take(length);
      if (control && length >= 4 && block[0] & 1) h.transparent = block[3];
    }
  }
  p = in.take(9);
  h.left = le16(p), h.top = le16(p + 2), h.columns = le16(p + 4), h.rows = le16(p + 6);
  h.interlaced = p[8] & 0x40;
  take_colors(in, p[8], h);
  if (!h.colors) {  // the indexes are then grays, as in Pillow
    static const std::vector<uint8_t> grays = [] {
      std::vector<uint8_t> all;
      for (int v = 0; v < 256; ++v) all.insert(all.end(), 3, static_cast<uint8_t>(v));
      return all;
    }();
    h.colors = grays.data(), h.count = 256;
  }
  h.codes = in.at;
  return h;
}

// Reads codes of 3 to 12 bits from blocks of up to 255 bytes.
class Codes {
 public:
  Codes(Bytes file, size_t at) : file_(file), at_(at) {}
  int next(int bits) {  // -1 at the end of the file or of the picture
    for (; have_ < bits; have_ += 8) {
      while (left_ == 0) {
        if (at_ >= file_.size() || file_[at_] == 0) return -1;
        left_ = file_[at_++];
      }
      if (at_ >= file_.size()) return -1;
      buffer_ |= uint32_t{file_[at_++]} << have_;
      --left_;
    }
    const int code = buffer_ & ((1u << bits) - 1);
    buffer_ >>= bits;
    have_ -= bits;
    return code;
  }

 private:
  Bytes file_;
  size_t at_;
  uint32_t buffer_ = 0;
  int have_ = 0, left_ = 0;
};

// Lempel-Ziv-Welch: fills `out` as far as the codes go, and returns how far.
size_t unpack(Bytes file, const Header& h, std::vector<uint8_t>& out) {
  if (h.codes >= file.size()) return 0;
  const int first = file[h.codes];
  if (first < 1 || first > 11) bad_data("GIF: an initial code size of {} bits is not valid", first);
  constexpr int kMost = 4096;
  uint16_t prefix[kMost];
  uint8_t suffix[kMost], head[kMost], text[kMost];
  const int clear = 1 << first, end = clear + 1;
  for (int i = 0; i < clear; ++i) suffix[i] = head[i] = static_cast<uint8_t>(i), prefix[i] = 0;
  int bits = first + 1, known = end + 1, last = -1;
  Codes codes(file, h.codes + 1);
  size_t at = 0;
  while (at < out.size()) {
    const int code = codes.next(bits);
    if (code < 0 || code == end) break;
    if (code == clear) {
      bits = first + 1, known = end + 1, last = -1;
      continue;
    }
    if (code > known || (code == known && (last < 0 || known == kMost)) || (last < 0 && code >= clear))
      bad_data("GIF: an undefined code at pixel {}", at);
    if (last >= 0 && known < kMost) {
      prefix[known] = static_cast<uint16_t>(last);
      head[known] = head[last];
      suffix[known] = head[code == known ? last : code];
      ++known;
      if (known == 1 << bits && bits < 12) ++bits;
    }
    int length = 0, c = code;
    for (; c >= clear; c = prefix[c]) text[length++] = suffix[c];  // prefixes come before their codes
    text[length++] = suffix[c];
    while (length > 0 && at < out.size()) out[at++] = text[--length];
    last = code;
  }
  return at;
}

// The row of the picture for each stored row.
std::vector<int64_t> row_order(const Header& h) {
  std::vector<int64_t> order;
  if (!h.interlaced) {
    for (int64_t y = 0; y < h.rows; ++y) order.push_back(y);
    return order;
  }
  constexpr int kFirst[4] = {0, 4, 2, 1}, kStep[4] = {8, 8, 4, 2};
  for (int pass = 0; pass < 4; ++pass)
    for (int64_t y = kFirst[pass]; y < h.rows; y += kStep[pass]) order.push_back(y);
  return order;
}

class Gif final : public DecoderByHeader<Header> {
 public:
  const char* name() const override { return "gif/penstock"; }

  Header read_header(Bytes file) const override { return penstock::read_header(file); }
  ImageInfo describe(const Header& h) const override {
    return {.height = h.height, .width = h.width, .channels = h.transparent >= 0 ? 4 : 3};
  }

  void decode_region(Bytes file, const Header& h, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) const override {
    if (h.columns * h.rows > params.max_pixels)
      bad_data("GIF: a picture of {} x {} pixels exceeds the canvas of {} x {}", h.rows, h.columns, h.height, h.width);
    std::vector<uint8_t> stored(static_cast<size_t>(h.columns * h.rows));
    const size_t have = unpack(file, h, stored);
    std::vector<int64_t> place(h.rows, 0);  // index of a row among the stored ones
    const std::vector<int64_t> order = row_order(h);
    for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int64_t>(i);
    const int channels = h.transparent >= 0 ? 4 : 3;
    const uint8_t free = static_cast<uint8_t>(h.transparent >= 0 ? h.transparent : h.background);
    std::vector<uint8_t> row(static_cast<size_t>(h.width) * channels);
    const RowConversion conversion{channels, DType::uint8, params.type, params.dtype};
    store_rows(conversion, region, sink, [&](int64_t y) {
      const bool inside = y >= h.top && y < h.top + h.rows;
      const int64_t begin = inside ? place[y - h.top] * h.columns : 0;
      if (inside && begin + h.columns > static_cast<int64_t>(have))
        ends_early("GIF: premature end of file at row {} of {}", y, h.height);
      uint8_t* out = row.data();
      for (int64_t x = 0; x < h.width; ++x, out += channels) {
        const bool drawn = inside && x >= h.left && x < h.left + h.columns;
        const int index = drawn ? stored[begin + x - h.left] : free;
        if (index < h.count) std::memcpy(out, h.colors + 3 * index, 3);
        else std::memset(out, 0, 3);
        if (channels == 4) out[3] = index == h.transparent ? 0 : 255;
      }
      return row.data();
    });
  }
};

OwnEnd end_of_gif(Bytes file) {
  uint64_t at = 6;
  const auto skip = [&](uint64_t bytes) { return at += bytes, at <= file.size(); };
  const auto skip_colors = [&](uint8_t flags) { return !(flags & 0x80) || skip(uint64_t{6} << (flags & 7)); };
  const auto skip_blocks = [&] {
    while (at < file.size() && file[at] != 0)
      if (!skip(1 + uint64_t{file[at]})) return false;
    return at < file.size() && skip(1);
  };
  if (!skip(7) || !skip_colors(file[10])) return {OwnEnd::cut};
  while (at < file.size()) {
    const uint8_t kind = file[at++];
    if (kind == 0x3B) return {OwnEnd::found, at};
    if (kind == 0x21 ? !skip(1) || !skip_blocks()
                     : kind == 0x2C && (!skip(9) || !skip_colors(file[at - 1]) || !skip(1) || !skip_blocks()))
      return {OwnEnd::cut};
    if (kind != 0x21 && kind != 0x2C) return {};  // damage, or what follows the last picture
  }
  return {OwnEnd::missing};
}

const Gif gif;

PENSTOCK_IMAGE_FORMAT({
    .id = "gif",
    .title = "GIF",
    .place = 90,
    .signatures = {{0, "GIF87a"}, {0, "GIF89a"}},
    .suffixes = {".gif"},
    .decoders = {&gif},
    .own_end = &end_of_gif,
    .taken = "the first picture on its canvas; without a palette, indexes are grays",
    .window_reads = "all",
    .library = "our own",
});

}  // namespace

}  // namespace penstock
