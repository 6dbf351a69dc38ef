// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/lossless_decoder.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"
#include "codecs/pixel_rows.h"

namespace penstock::jpeg {

namespace {

constexpr int kMostComponents = 3, kLongestCode = 16;

struct HuffmanCodes {
  bool is_there = false;
  int first[kLongestCode + 1] = {}, count[kLongestCode + 1] = {}, place[kLongestCode + 1] = {};
  uint8_t categories[256] = {};
};

// The bits of a scan, between markers.
class ScanBits {
 public:
  ScanBits(Bytes file, size_t at) : file_(file), at_(at) {}

  int bit() {  // -1 at a marker or the end of the file
    if (left_ == 0) {
      if (at_ >= file_.size()) return -1;
      byte_ = file_[at_];
      if (byte_ == 0xFF) {
        if (at_ + 1 >= file_.size()) return at_ = file_.size(), -1;
        if (file_[at_ + 1] != 0) return -1;
        ++at_;
      }
      ++at_, left_ = 8;
    }
    return byte_ >> --left_ & 1;
  }
  // The difference that a code and the bits after it encode; false if they are truncated or the code is invalid.
  bool difference(const HuffmanCodes& codes, int& d) {
    int code = 0, length = 0, category = -1;
    while (category < 0) {
      const int b = bit();
      if (b < 0 || ++length > kLongestCode) return false;
      code = code << 1 | b;
      const int place = code - codes.first[length];
      if (place >= 0 && place < codes.count[length]) category = codes.categories[codes.place[length] + place];
    }
    d = 0;
    if (category == 16) return d = 32768, true;
    for (int i = 0; i < category; ++i) {
      const int b = bit();
      if (b < 0) return false;
      d = d << 1 | b;
    }
    if (category > 0 && d < 1 << (category - 1)) d -= (1 << category) - 1;
    return true;
  }
  bool is_at_end() const { return at_ >= file_.size(); }
  // Skips a restart marker; false if there is none.
  bool restart(int number) {
    left_ = 0;
    while (at_ + 1 < file_.size() && file_[at_] == 0xFF && file_[at_ + 1] == 0xFF) ++at_;
    if (at_ + 1 >= file_.size() || file_[at_] != 0xFF || file_[at_ + 1] != 0xD0 + number) return false;
    at_ += 2;
    return true;
  }
  size_t at() const { return at_; }

 private:
  Bytes file_;
  size_t at_;
  int left_ = 0, byte_ = 0;
};

struct Scan {
  int components = 0, predictor = 1, shift = 0;
  int which[kMostComponents] = {}, table[kMostComponents] = {};
};

int predicted(int predictor, int left, int above, int corner) {
  switch (predictor) {
    case 1: return left;
    case 2: return above;
    case 3: return corner;
    case 4: return left + above - corner;
    case 5: return left + ((above - corner) >> 1);
    case 6: return above + ((left - corner) >> 1);
    default: return (left + above) >> 1;
  }
}

class LosslessDecoder {
 public:
  LosslessDecoder(Bytes file, const JpegHeader& header, int64_t rows)
      : file_(file),
        header_(header),
        rows_(rows),
        samples_(static_cast<size_t>(rows * header.width * header.components)) {
    read_segments();
  }
  const uint8_t* row(int64_t y) const { return &samples_[static_cast<size_t>(y * header_.width * header_.components)]; }
  bool is_ycc() const { return header_.components == 3 && (adobe_ >= 0 ? adobe_ == 1 : is_jfif_); }

 private:
  Bytes file_;
  const JpegHeader& header_;
  int64_t rows_;
  std::vector<uint8_t> samples_;
  HuffmanCodes codes_[4];
  uint8_t ids_[kMostComponents] = {};
  bool is_read_[kMostComponents] = {};
  int64_t interval_ = 0;  // between restarts, in samples of a component
  int adobe_ = -1;
  bool is_jfif_ = false;

  bool is_complete() const {
    return std::all_of(is_read_, is_read_ + header_.components, [](bool r) { return r; });
  }

  void read_segments() {
    for (size_t at = 2; !is_complete();) {
      while (at < file_.size() && file_[at] != 0xFF) ++at;
      while (at < file_.size() && file_[at] == 0xFF) ++at;
      if (at >= file_.size()) ends_early("JPEG: premature end of file before all components");
      const uint8_t marker = file_[at++];
      if (marker == 0xD9) bad_data("JPEG: the picture ends before all components");
      if (marker == 0 || marker == 1 || (marker >= 0xD0 && marker <= 0xD8)) continue;
      const size_t length = file_.size() - at < 2 ? 0 : be16(&file_[at]);
      if (length > file_.size() - at || length < 2) ends_early("JPEG: premature end of file in the headers");
      const Bytes body = file_.subspan(at + 2, length - 2);
      at += length;
      if (marker == 0xC4) read_codes(body);
      else if (marker == 0xDD && body.size() >= 2) interval_ = be16(body.data());
      else if (marker == 0xE0) is_jfif_ |= body.size() >= 5 && !std::memcmp(body.data(), "JFIF", 5);
      else if (marker == 0xEE && body.size() >= 12 && !std::memcmp(body.data(), "Adobe", 5)) adobe_ = body[11];
      else if (marker == kLosslessFrame && body.size() < static_cast<size_t>(6 + 3 * header_.components))
        bad_data("JPEG: the frame header is damaged");
      else if (marker == kLosslessFrame)
        for (int c = 0; c < header_.components; ++c) ids_[c] = body[static_cast<size_t>(6 + 3 * c)];
      else if (marker == 0xDA) at = read_scan(scan_of(body), at);
    }
  }

  void read_codes(Bytes body) {
    constexpr size_t kCounts = 17;
    for (size_t at = 0; at < body.size();) {
      if (body.size() - at < kCounts || body[at] > 3) bad_data("JPEG: a Huffman table is damaged");
      HuffmanCodes& codes = codes_[body[at]] = {};
      codes.is_there = true;
      int next = 0, place = 0;
      for (int length = 1; length <= kLongestCode; ++length, next <<= 1) {
        codes.first[length] = next, codes.place[length] = place;
        codes.count[length] = body[at + static_cast<size_t>(length)];
        next += codes.count[length], place += codes.count[length];
        if (next > 1 << length) bad_data("JPEG: a Huffman table is damaged");
      }
      at += kCounts;
      if (place > 17 || body.size() - at < static_cast<size_t>(place)) bad_data("JPEG: a Huffman table is damaged");
      for (int i = 0; i < place; ++i) {
        codes.categories[i] = body[at + static_cast<size_t>(i)];
        if (codes.categories[i] > 16) bad_data("JPEG: a Huffman table is damaged");
      }
      at += static_cast<size_t>(place);
    }
  }

  Scan scan_of(Bytes body) const {
    Scan s;
    s.components = body.empty() ? 0 : body[0];
    if (s.components < 1 || s.components > header_.components ||
        body.size() < 4 + 2 * static_cast<size_t>(s.components))
      bad_data("JPEG: a scan has {} components", s.components);
    for (int i = 0; i < s.components; ++i) {
      const uint8_t* p = &body[static_cast<size_t>(1 + 2 * i)];
      s.which[i] = static_cast<int>(std::find(ids_, ids_ + header_.components, p[0]) - ids_);
      s.table[i] = p[1] >> 4;
      if (s.which[i] == header_.components || std::find(s.which, s.which + i, s.which[i]) != s.which + i)
        bad_data("JPEG: a scan refers to component {}, which does not exist", p[0]);
      if (s.table[i] > 3 || !codes_[s.table[i]].is_there) bad_data("JPEG: a scan lacks its Huffman table");
    }
    const uint8_t* p = &body[static_cast<size_t>(1 + 2 * s.components)];
    s.predictor = p[0], s.shift = p[2] & 15;
    if (s.predictor < 1 || s.predictor > 7) bad_data("JPEG: predictor {} is not between 1 and 7", s.predictor);
    if (s.shift >= header_.precision)
      bad_data("JPEG: samples of {} bits have a point transform of {} bits", header_.precision, s.shift);
    if (interval_ % header_.width)
      bad_data("JPEG: the restart interval of {} is not a multiple of {} columns", interval_, header_.width);
    return s;
  }

  [[noreturn]] void stop(const ScanBits& bits, int64_t y) const {
    if (bits.is_at_end()) ends_early("JPEG: premature end of file at row {} of {}", y, header_.height);
    bad_data("JPEG: the data is damaged at row {} of {}", y, header_.height);
  }

  // Returns the position after it if all rows were wanted: in other cases nothing that follows is needed.
  size_t read_scan(const Scan& s, size_t at) {
    ScanBits bits(file_, at);
    const int64_t width = header_.width, n = header_.components, rows = s.components == n ? rows_ : header_.height;
    // Two coded rows of each component, before the point transform is undone.
    std::vector<uint16_t> lines(static_cast<size_t>(2 * width * s.components));
    const int64_t restart_rows = interval_ / width;
    bool is_first = true;
    int number = 0;
    for (int64_t y = 0; y < rows; ++y) {
      if (restart_rows && y > 0 && y % restart_rows == 0) {
        if (!bits.restart(number)) stop(bits, y);
        number = (number + 1) & 7, is_first = true;
      }
      uint16_t* const now = &lines[static_cast<size_t>(y % 2 * width * s.components)];
      const uint16_t* const above = &lines[static_cast<size_t>((y + 1) % 2 * width * s.components)];
      for (int64_t x = 0; x < width; ++x)
        for (int i = 0; i < s.components; ++i) {
          int d = 0;
          if (!bits.difference(codes_[s.table[i]], d)) stop(bits, y);
          const int64_t k = x * s.components + i;
          const int left = x > 0 ? now[k - s.components] : 0;
          const int p = x == 0     ? is_first ? 1 << (header_.precision - s.shift - 1) : above[k]
                        : is_first ? left
                                   : predicted(s.predictor, left, above[k], above[k - s.components]);
          now[k] = static_cast<uint16_t>(p + d);
          if (y < rows_)
            samples_[static_cast<size_t>((y * width + x) * n + s.which[i])] = static_cast<uint8_t>(now[k] << s.shift);
        }
      is_first = false;
    }
    for (int i = 0; i < s.components; ++i) is_read_[s.which[i]] = true;
    return bits.at();
  }
};

// ITU-R BT.601 in full range, as in JFIF.
void to_rgb(const uint8_t* ycc, int64_t width, uint8_t* rgb) {
  const auto rounded = [](int64_t millionths) {
    constexpr int64_t kOne = 1000000;  // below 0 the division rounds up, to what becomes 0 in any case
    return static_cast<uint8_t>(std::clamp<int64_t>((millionths + kOne / 2) / kOne, 0, 255));
  };
  for (int64_t x = 0; x < width; ++x, ycc += 3, rgb += 3) {
    const int64_t y = int64_t{ycc[0]} * 1000000, cb = ycc[1] - 128, cr = ycc[2] - 128;
    rgb[0] = rounded(y + 1402000 * cr);
    rgb[1] = rounded(y - 344136 * cb - 714136 * cr);
    rgb[2] = rounded(y + 1772000 * cb);
  }
}

}  // namespace

std::string cannot_decode_lossless(const JpegHeader& h) {
  std::string reasons;
  auto add = [&](bool wrong, const std::string& reason) {
    if (wrong) reasons += (reasons.empty() ? "" : "; ") + reason;
  };
  add(h.precision != 8, fmt::format("lossless with {} bits per sample instead of 8", h.precision));
  add(h.components != 1 && h.components != 3, fmt::format("lossless with {} components", h.components));
  bool alike = true;
  for (int c = 1; c < h.components; ++c) alike &= h.h[c] == h.h[0] && h.v[c] == h.v[0];
  add(!alike, "lossless with components of different sizes");
  return reasons;
}

void decode_lossless(Bytes file, const JpegHeader& h, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) {
  if (h.width > params.max_pixels / h.height) bad_data("JPEG: the headers are inconsistent");
  // Each sample has at least one bit.
  if (h.width * h.height / 8 * h.components > static_cast<int64_t>(file.size()))
    ends_early("JPEG: premature end of file: {} bytes cannot hold {} x {} pixels", file.size(), h.height, h.width);
  const LosslessDecoder decoded(file, h, region.y + region.height);
  const RowConversion conversion{h.components, DType::uint8, params.type, params.dtype};
  std::vector<uint8_t> row(static_cast<size_t>(h.width * h.components));
  store_rows(conversion, region, sink, [&](int64_t y) {
    if (!decoded.is_ycc()) return decoded.row(y);
    to_rgb(decoded.row(y), h.width, row.data());
    return static_cast<const uint8_t*>(row.data());
  });
}

}  // namespace penstock::jpeg
