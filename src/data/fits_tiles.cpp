// SPDX-License-Identifier: Apache-2.0
#include "data/fits_tiles.h"

#include <zlib.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/memory.h"

namespace penstock {
namespace {

using Bytes = std::span<const uint8_t>;
using Values = std::vector<int64_t>;

uint64_t big_endian(const uint8_t* p, size_t bytes) {
  uint64_t v = 0;
  for (size_t k = 0; k < bytes; ++k) v = v << 8 | p[k];
  return v;
}
int64_t sign_extended(uint64_t v, size_t bytes) {
  const int shift = 64 - 8 * static_cast<int>(bytes);
  return static_cast<int64_t>(v << shift) >> shift;
}
void put(uint8_t* out, uint64_t v, size_t bytes) {
  for (size_t k = bytes; k-- > 0; v >>= 8) out[k] = static_cast<uint8_t>(v);
}

class BitReader {
 public:
  explicit BitReader(Bytes bytes) : bytes_(bytes) {}
  uint64_t bits(int n) {
    while (count_ < n) {
      if (at_ == bytes_.size()) bad_data("FITS: a tile of RICE_1 ends too early");
      held_ = held_ << 8 | bytes_[at_++], count_ += 8;
    }
    count_ -= n;
    return held_ >> count_ & ((uint64_t{1} << n) - 1);
  }
  uint64_t zeros() {  // before the next 1, which is consumed too
    for (uint64_t n = 0;; ++n)
      if (bits(1)) return n;
  }

 private:
  Bytes bytes_;
  size_t at_ = 0;
  uint64_t held_ = 0;
  int count_ = 0;
};

// Differences of neighbors, Rice-coded in blocks; each block has its parameter.
void decode_rice(const FitsTiles& t, Bytes from, Values& to) {
  const int bits = 8 * static_cast<int>(t.pixel_bytes);
  const int parameter_bits = bits == 32 ? 5 : bits == 16 ? 4 : 3, most = bits == 32 ? 25 : bits == 16 ? 14 : 6;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  BitReader in(from);
  uint64_t last = in.bits(bits);
  for (size_t i = 0; i < to.size();) {
    const size_t end = std::min(to.size(), i + static_cast<size_t>(t.block));
    const int parameter = static_cast<int>(in.bits(parameter_bits)) - 1;
    if (parameter > most) bad_data("FITS: a tile of RICE_1 is damaged");
    for (; i < end; ++i) {
      uint64_t d = 0;
      if (parameter == most) d = in.bits(bits);
      else if (parameter >= 0) d = in.zeros() << parameter, d |= in.bits(parameter);
      last = (last + ((d & 1) ? ~(d >> 1) : d >> 1)) & mask;
      to[i] = bits == 8 ? static_cast<int64_t>(last) : sign_extended(last, static_cast<size_t>(t.pixel_bytes));
    }
  }
}

// IRAF's pixel lists: 16-bit words with a 4-bit instruction and 12 bits of data.
void decode_plio(Bytes from, Values& to) {
  const size_t words = from.size() / 2;
  const auto word = [&](size_t k) { return static_cast<int64_t>(sign_extended(big_endian(&from[2 * k], 2), 2)); };
  if (words < 4) bad_data("FITS: a tile of PLIO_1 ends too early");
  size_t end = static_cast<size_t>(std::max<int64_t>(0, word(3))), k = 3;
  if (word(2) > 0) {
    end = static_cast<size_t>(std::max<int64_t>(0, word(2)));
  } else {
    if (words < 7) bad_data("FITS: a tile of PLIO_1 ends too early");
    end = static_cast<size_t>(std::max<int64_t>(0, (word(4) << 15) + word(3)));
    k = static_cast<size_t>(std::max<int64_t>(0, word(1)));
  }
  size_t at = 0;
  int64_t high = 1;
  const auto run = [&](int64_t n, int64_t value, bool last_alone) {
    if (static_cast<size_t>(n) > to.size() - at) bad_data("FITS: a tile of PLIO_1 has too many elements");
    for (int64_t i = 0; i < n; ++i) to[at++] = last_alone && i + 1 < n ? 0 : value;
  };
  for (; k < std::min(end, words); ++k) {
    const auto code = static_cast<uint16_t>(word(k));
    const int64_t data = code & 4095;
    switch (code >> 12) {
      case 0: run(data, 0, false); break;
      case 1:
        if (++k >= words) bad_data("FITS: a tile of PLIO_1 ends too early");
        high = (word(k) << 12) + data;
        break;
      case 2: high += data; break;
      case 3: high -= data; break;
      case 4: run(data, high, false); break;
      case 5: run(data, high, true); break;
      case 6: high += data, run(1, high, false); break;
      case 7: high -= data, run(1, high, false); break;
      default: bad_data("FITS: a tile of PLIO_1 is damaged");
    }
  }
  std::fill(to.begin() + static_cast<ptrdiff_t>(at), to.end(), 0);
}

// Exactly `bytes` bytes from a gzip stream.
std::vector<uint8_t> inflated(Bytes from, size_t bytes) {
  std::vector<uint8_t> out(bytes + 1);  // one more, to detect a longer stream
  z_stream z{};
  if (inflateInit2(&z, 15 + 32) != Z_OK) fail(ErrorKind::out_of_memory, "no memory to decompress a tile");
  z.next_in = const_cast<uint8_t*>(from.data()), z.avail_in = static_cast<uInt>(from.size());
  z.next_out = out.data(), z.avail_out = static_cast<uInt>(out.size());
  const int end = inflate(&z, Z_FINISH);
  const size_t given = out.size() - z.avail_out;
  inflateEnd(&z);
  if (end != Z_STREAM_END || given != bytes)
    bad_data("FITS: a tile is damaged: its {} bytes do not decompress to {}", from.size(), bytes);
  out.pop_back();
  return out;
}

// GZIP_2: all first bytes, then all second ones ...
void unshuffle(std::vector<uint8_t>& bytes, size_t size) {
  std::vector<uint8_t> out(bytes.size());
  const size_t n = bytes.size() / size;
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < size; ++k) out[i * size + k] = bytes[k * n + i];
  bytes.swap(out);
}

// The sequence for the dither of quantized numbers: 10,000 numbers of Park's and Miller's generator.
constexpr int kDithers = 10000;
const std::array<float, kDithers>& dithers() {
  static const std::array<float, kDithers> all = [] {
    std::array<float, kDithers> a{};
    uint64_t seed = 1;
    for (float& f : a)
      seed = 16807 * seed % 2147483647, f = static_cast<float>(static_cast<double>(seed) / 2147483647.0);
    return a;
  }();
  return all;
}

class TileReader {
 public:
  using Read = std::function<void(int64_t, int64_t, uint8_t*)>;
  TileReader(const Read& read, const FitsTiles& tiles)
      : read_(read), t_(tiles), row_(checked_bytes(tiles.row_bytes, 1)) {}

  // Tile `number`, lines of `columns` elements, as elements of the image, big-endian.
  std::vector<uint8_t> tile(int64_t number, size_t count, int64_t columns) {
    read_(t_.table + number * t_.row_bytes, t_.row_bytes, row_.data());
    const size_t size = size_of(t_.stored);
    std::vector<uint8_t> cell = cell_of(t_.data);
    if (cell.empty() && t_.gzip_data.at >= 0) {  // could not be quantized
      cell = cell_of(t_.gzip_data);
      if (!cell.empty()) return inflated(cell, checked_bytes(static_cast<int64_t>(count), size));
    }
    if (cell.empty() && t_.plain_data.at >= 0) {
      cell = cell_of(t_.plain_data);
      if (cell.size() != count * size) bad_data("FITS: a tile has {} bytes, not {}", cell.size(), count * size);
      return cell;
    }
    const bool quantized = is_float(t_.stored) && t_.scale.at >= 0 && t_.zero.at >= 0;
    if (is_float(t_.stored) && !quantized && t_.compression != "GZIP_1" && t_.compression != "GZIP_2" &&
        t_.compression != "NOCOMPRESS")
      bad_data("FITS: {} of floating-point numbers has no ZSCALE and ZZERO", t_.compression);
    const size_t each = quantized ? 4 : size;
    if (t_.compression == "GZIP_1" || t_.compression == "GZIP_2" || t_.compression == "NOCOMPRESS") {
      const size_t bytes = checked_bytes(static_cast<int64_t>(count), each);
      if (t_.compression != "NOCOMPRESS") cell = inflated(cell, bytes);
      if (cell.size() != bytes) bad_data("FITS: a tile has {} bytes, not {}", cell.size(), bytes);
      if (t_.compression == "GZIP_2") unshuffle(cell, each);
      if (!quantized) return cell;
    }
    Values values(count);
    if (t_.compression == "RICE_1") decode_rice(t_, cell, values);
    else if (t_.compression == "PLIO_1") decode_plio(cell, values);
    else if (t_.compression == "HCOMPRESS_1") decode_hcompress(cell, columns, values);
    else
      for (size_t i = 0; i < count; ++i) values[i] = sign_extended(big_endian(&cell[i * each], each), each);
    std::vector<uint8_t> out(count * size);
    if (quantized) dequantize(number, values, out.data());
    else
      for (size_t i = 0; i < count; ++i) put(&out[i * size], static_cast<uint64_t>(values[i]), size);
    return out;
  }

 private:
  // The bytes that a cell of the row refers to.
  std::vector<uint8_t> cell_of(const FitsColumn& c) {
    if (c.at < 0) return {};
    const size_t size = c.wide ? 8 : 4;
    const uint64_t elements = big_endian(&row_[static_cast<size_t>(c.at)], size),
                   at = big_endian(&row_[static_cast<size_t>(c.at) + size], size);
    const uint64_t width = c.type == 'B' ? 1 : c.type == 'I' ? 2 : c.type == 'J' || c.type == 'E' ? 4 : 8;
    const auto most = static_cast<uint64_t>(t_.heap_bytes);
    if (elements > most / width || at > most - elements * width)
      bad_data("FITS: {} elements at byte {} do not lie inside the heap of {} bytes", elements, at, most);
    std::vector<uint8_t> bytes(elements * width);
    if (!bytes.empty()) read_(t_.heap + static_cast<int64_t>(at), static_cast<int64_t>(bytes.size()), bytes.data());
    return bytes;
  }
  double number_of(const FitsColumn& c) const {
    const uint8_t* p = &row_[static_cast<size_t>(c.at)];
    switch (c.type) {
      case 'E': return std::bit_cast<float>(static_cast<uint32_t>(big_endian(p, 4)));
      case 'D': return std::bit_cast<double>(big_endian(p, 8));
      default: return static_cast<double>(whole_of(c));
    }
  }
  int64_t whole_of(const FitsColumn& c) const {
    const size_t size = c.type == 'B' ? 1 : c.type == 'I' ? 2 : c.type == 'K' ? 8 : 4;
    return sign_extended(big_endian(&row_[static_cast<size_t>(c.at)], size), size);
  }

  void dequantize(int64_t number, const Values& values, uint8_t* out) const {
    constexpr int64_t kZero = -2147483646;
    const double scale = number_of(t_.scale), zero = number_of(t_.zero);
    const bool dithered = t_.dither != "NO_DITHER", zeros = t_.dither == "SUBTRACTIVE_DITHER_2";
    std::optional<int64_t> blank;
    if (t_.blanks.at >= 0) blank = whole_of(t_.blanks);
    else if (t_.has_blank) blank = t_.blank;
    const auto& random = dithers();
    size_t begin = static_cast<size_t>((number + t_.seed - 1) % kDithers),
           next = static_cast<size_t>(random[begin] * 500);
    for (const int64_t v : values) {
      double x;
      if (blank && v == *blank) x = std::numeric_limits<double>::quiet_NaN();
      else if (zeros && v == kZero) x = 0;
      else if (dithered) x = (static_cast<double>(v) - static_cast<double>(random[next]) + 0.5) * scale + zero;
      else x = static_cast<double>(v) * scale + zero;
      if (dithered && ++next == kDithers) {
        begin = (begin + 1) % kDithers;
        next = static_cast<size_t>(random[begin] * 500);
      }
      if (t_.stored == DType::float32) put(out, std::bit_cast<uint32_t>(static_cast<float>(x)), 4), out += 4;
      else put(out, std::bit_cast<uint64_t>(x), 8), out += 8;
    }
  }

  const Read& read_;
  const FitsTiles& t_;
  std::vector<uint8_t> row_;
};

}  // namespace

void read_fits_tiles(const std::function<void(int64_t, int64_t, uint8_t*)>& read, const FitsTiles& t, uint8_t* out) {
  TileReader reader(read, t);
  const int ndim = t.shape.size();
  const size_t size = size_of(t.stored);
  Shape begin = Shape::filled(ndim, 0);
  for (int64_t number = 0; number < t.rows; ++number) {
    Shape extent = t.tile;  // tiles at the edges are smaller
    for (int d = 0; d < ndim; ++d) extent[d] = std::min(extent[d], t.shape[d] - begin[d]);
    const auto count = static_cast<size_t>(extent.volume());
    const std::vector<uint8_t> elements = reader.tile(number, count, extent[ndim - 1]);
    const auto line = static_cast<size_t>(extent[ndim - 1]) * size;
    Shape at = begin;
    for (size_t from = 0; from < elements.size(); from += line) {
      int64_t place = 0;
      for (int d = 0; d < ndim; ++d) place = place * t.shape[d] + at[d];
      std::memcpy(out + static_cast<size_t>(place) * size, elements.data() + from, line);
      for (int d = ndim - 2; d >= 0; --d) {
        if (++at[d] < begin[d] + extent[d]) break;
        at[d] = begin[d];
      }
    }
    for (int d = ndim - 1; d >= 0; --d) {
      if ((begin[d] += t.tile[d]) < t.shape[d]) break;
      begin[d] = 0;
    }
  }
}

}  // namespace penstock
