// SPDX-License-Identifier: Apache-2.0
// Netpbm's PBM, PGM and PPM, plain (P1, P2, P3) and raw (P4, P5, P6), the first picture of a file, and PFM. The file's
// maximum is white: values are rescaled from it and rounded to nearest, to 8 bits, or to 16 if it is above 255; larger
// values count as the maximum. Source: Netpbm's format descriptions.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"
#include "codecs/image_format.h"
#include "codecs/pixel_rows.h"

namespace penstock {

namespace {

bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Reads numbers between spaces and comments.
class Text {
 public:
  Text(Bytes file, size_t at) : file_(file), at_(at) {}

  // -1 at the end of the file; numbers above 2^31 are clamped to that.
  int64_t number() {
    if (!skip()) return -1;
    if (!digit()) bad_data("PNM: expected a number at byte {}", at_);
    int64_t v = 0;
    for (; digit(); ++at_) v = std::min<int64_t>(v * 10 + (file_[at_] - '0'), int64_t{1} << 31);
    return v;
  }
  int64_t bit() {  // in P1 they need no space between them
    if (!skip()) return -1;
    if (file_[at_] != '0' && file_[at_] != '1') bad_data("PNM: expected 0 or 1 at byte {}", at_);
    return file_[at_++] - '0';
  }
  // For PFM: a number with a sign, a point and an exponent, of which only the sign matters. 0 if there is none.
  double real() {
    if (!skip()) return 0;
    double v = 0;
    if (file_[at_] == '+' && ++at_ == file_.size()) return 0;
    const char* begin = reinterpret_cast<const char*>(&file_[at_]);
    constexpr size_t kLongest = 64;
    const auto [end, error] = std::from_chars(begin, begin + std::min(kLongest, file_.size() - at_), v);
    at_ += static_cast<size_t>(end - begin);
    return error == std::errc() && std::isfinite(v) ? v : 0;
  }
  size_t at() const { return at_; }

 private:
  bool digit() const { return at_ < file_.size() && file_[at_] >= '0' && file_[at_] <= '9'; }
  bool skip() {
    while (at_ < file_.size() && (is_space(file_[at_]) || file_[at_] == '#'))
      if (file_[at_++] == '#')
        while (at_ < file_.size() && file_[at_] != '\n' && file_[at_] != '\r') ++at_;
    return at_ < file_.size();
  }
  Bytes file_;
  size_t at_;
};

struct Header {
  int64_t height = 0, width = 0, maximum = 1;
  int kind = 0;         // the digit after P; for PFM: kReal or kRealColor
  bool little = false;  // byte order of floating-point samples
  size_t pixels = 0;

  static constexpr int kReal = 'f' - '0', kRealColor = 'F' - '0';
  bool real() const { return kind == kReal || kind == kRealColor; }
  bool plain() const { return kind <= 3; }
  bool bits() const { return kind == 1 || kind == 4; }
  int channels() const { return kind == 3 || kind == 6 || kind == kRealColor ? 3 : 1; }
  bool wide() const { return maximum > 255; }
  DType stored() const { return real() ? DType::float32 : wide() ? DType::uint16 : DType::uint8; }
  int64_t sample_bytes() const { return static_cast<int64_t>(size_of(stored())); }
  int64_t row_samples() const { return width * channels(); }
  int64_t row_bytes() const { return kind == 4 ? (width + 7) / 8 : row_samples() * sample_bytes(); }
};

Header read_header(Bytes file) {
  if (file.size() < 3 || !(is_space(file[2]) || file[2] == '#')) bad_data("PNM: the header has no size");
  Header h;
  h.kind = file[1] - '0';
  Text text(file, 2);
  h.width = text.number();
  h.height = text.number();
  if (h.real()) {
    if (text.at() >= file.size()) h.maximum = -1;
    else if (const double scale = text.real(); scale != 0) h.little = scale < 0;
    else bad_data("PNM: the scale of PFM is not a number other than 0");
  } else if (!h.bits()) {
    h.maximum = text.number();
  }
  if (h.width < 0 || h.height < 0 || h.maximum < 0)
    ends_early("PNM: the file of {} bytes ends in the header", file.size());
  constexpr int64_t kLongest = 0x7FFFFFFF;
  if (h.width < 1 || h.height < 1 || h.width > kLongest || h.height > kLongest)
    bad_data("PNM: the header says {} x {} pixels", h.height, h.width);
  if (h.maximum < 1 || h.maximum > 65535) bad_data("PNM: the maximum {} is not between 1 and 65535", h.maximum);
  h.pixels = text.at() + 1;  // one space
  return h;
}

// Writes `value` of 0..maximum in 8 or 16 bits.
void put(const Header& h, int64_t value, uint8_t* to) {
  const int64_t top = h.wide() ? 65535 : 255;
  const int64_t v = (std::min(value, h.maximum) * top + h.maximum / 2) / h.maximum;
  if (h.wide()) {
    const auto wide = static_cast<uint16_t>(v);
    std::memcpy(to, &wide, 2);
  } else {
    *to = static_cast<uint8_t>(v);
  }
}

class Pnm final : public DecoderByHeader<Header> {
 public:
  const char* name() const override { return "pnm/penstock"; }

  Header read_header(Bytes file) const override { return penstock::read_header(file); }
  ImageInfo describe(const Header& h) const override {
    return {.height = h.height, .width = h.width, .channels = h.channels(), .dtype = h.stored()};
  }

  void decode_region(Bytes file, const Header& h, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) const override {
    const RowConversion conversion{h.channels(), h.stored(), params.type, params.dtype};
    const int64_t step = h.sample_bytes();
    std::vector<uint8_t> row(static_cast<size_t>(h.row_samples() * step));
    Text text(file, std::min(h.pixels, file.size()));
    int64_t next = 0;  // row of plain text
    store_rows(conversion, region, sink, [&](int64_t y) {
      if (h.plain()) {
        for (; next <= y; ++next)
          for (int64_t i = 0; i < h.row_samples(); ++i) {
            const int64_t v = h.bits() ? text.bit() : text.number();
            if (v < 0) ends_early("PNM: premature end of file at row {} of {}", next, h.height);
            put(h, h.bits() ? 1 - v : v, &row[i * step]);
          }
        return row.data();
      }
      // Floating-point files start with the last row.
      const int64_t stored = h.real() ? h.height - 1 - y : y;
      const uint64_t begin = h.pixels + static_cast<uint64_t>(stored) * h.row_bytes();
      if (begin > file.size() || file.size() - begin < static_cast<uint64_t>(h.row_bytes()))
        ends_early("PNM: premature end of file at row {} of {}", y, h.height);
      const uint8_t* in = &file[begin];
      if (h.real()) {
        for (int64_t i = 0; i < h.row_samples(); ++i) {
          const uint32_t bits = h.little ? le32(in + 4 * i) : be32(in + 4 * i);
          std::memcpy(&row[i * 4], &bits, 4);
        }
        return row.data();
      }
      for (int64_t i = 0; i < h.row_samples(); ++i)
        put(h, h.kind == 4 ? ~in[i / 8] >> (7 - i % 8) & 1 : h.wide() ? be16(in + 2 * i) : in[i], &row[i * step]);
      return row.data();
    });
  }
};

const Pnm pnm;

PENSTOCK_IMAGE_FORMAT({
    .id = "pnm",
    .title = "PNM",
    .place = 80,
    .signatures = {{0, "P1"}, {0, "P2"}, {0, "P3"}, {0, "P4"}, {0, "P5"}, {0, "P6"}, {0, "PF"}, {0, "Pf"}},
    .suffixes = {".pnm", ".ppm", ".pgm", ".pbm", ".pfm"},
    .read_by_default = {50, {".pnm", ".ppm", ".pgm", ".pbm"}},
    .decoders = {&pnm},
    .taken = "P1 to P6, up to 16 bits; PFM (`PF`, `Pf`): float32, whose scale gives only the byte order, as in "
             "Pillow",
    .window_reads = "its rows (plain text: up to its last row)",
    .library = "our own",
});

}  // namespace

}  // namespace penstock
