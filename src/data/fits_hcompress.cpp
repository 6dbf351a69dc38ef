// SPDX-License-Identifier: Apache-2.0
// HCOMPRESS_1: the H-transform of R. White ("High-performance compression of astronomical images", 1992), a Haar
// transform of integers whose sums are not divided. Its coefficients, in four quadrants, are stored as quadtrees of
// their bit planes.
#include <algorithm>
#include <bit>

#include "base/error.h"
#include "data/fits_tiles.h"

namespace penstock {
namespace {

[[noreturn]] void damaged() { bad_data("FITS: a tile of HCOMPRESS_1 is damaged"); }

class Bits {
 public:
  explicit Bits(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  int64_t take(int n) {
    int64_t v = 0;
    for (; n > 0; --n, ++at_) {
      if (at_ / 8 >= bytes_.size()) bad_data("FITS: a tile of HCOMPRESS_1 ends too early");
      v = v << 1 | (bytes_[at_ / 8] >> (7 - at_ % 8) & 1);
    }
    return v;
  }
  void to_byte() { at_ = (at_ + 7) / 8 * 8; }
  // Which of the four quarters are not empty: 3 to 6 bits, for a number below 16.
  uint8_t quarters() {
    int64_t code = take(3);
    if (code < 4) return static_cast<uint8_t>(1 << code);
    static constexpr uint8_t kFour[] = {3, 5, 10, 12, 15}, kFive[] = {6, 7, 9, 11, 13};
    if ((code = code << 1 | take(1)) < 13) return kFour[code - 8];
    if ((code = code << 1 | take(1)) < 31) return kFive[code - 26];
    return (code << 1 | take(1)) == 62 ? 0 : 14;
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

int levels_of(int64_t n) { return std::bit_width(static_cast<uint64_t>(n - 1)); }
int64_t halved(int64_t n, int times) { return (n + (int64_t{1} << times) - 1) >> times; }

struct Coefficients {
  int64_t rows, columns;
  std::vector<int64_t>& at;
  int64_t& operator()(int64_t y, int64_t x) { return at[static_cast<size_t>(y * columns + x)]; }
};

// One quadrant, from (y0, x0) on.
void decode_quadrant(Bits& in, Coefficients& c, int64_t y0, int64_t x0, int64_t rows, int64_t columns, int planes) {
  const int levels = levels_of(std::max(rows, columns));
  std::vector<uint8_t> codes, bits;
  // Each code has the four bits of a square of two by two.
  const auto bit = [&](int64_t y, int64_t x, int64_t width) {
    return codes[static_cast<size_t>(y / 2 * ((width + 1) / 2) + x / 2)] >> (3 - 2 * (y & 1) - (x & 1)) & 1;
  };
  for (int plane = planes - 1; plane >= 0; --plane) {
    const int64_t form = in.take(4);
    if (form == 0) {  // not compressed
      codes.resize(static_cast<size_t>(((rows + 1) / 2) * ((columns + 1) / 2)));
      for (auto& code : codes) code = static_cast<uint8_t>(in.take(4));
    } else if (form == 15) {
      codes.assign(1, in.quarters());
      for (int level = levels - 1; level > 0; --level) {
        const int64_t h = halved(rows, level), w = halved(columns, level);
        bits.resize(static_cast<size_t>(h * w));
        for (int64_t y = 0; y < h; ++y)
          for (int64_t x = 0; x < w; ++x) bits[static_cast<size_t>(y * w + x)] = static_cast<uint8_t>(bit(y, x, w));
        for (size_t k = bits.size(); k-- > 0;)
          if (bits[k]) bits[k] = in.quarters();
        codes.swap(bits);
      }
    } else {
      damaged();
    }
    for (int64_t y = 0; y < rows; ++y)
      for (int64_t x = 0; x < columns; ++x) c(y0 + y, x0 + x) |= static_cast<int64_t>(bit(y, x, columns)) << plane;
  }
}

// Rounds to a multiple of a power of two.
int64_t rounded(int64_t v, int64_t unit) {
  const int64_t half = unit >> 1;
  return (v + (v >= 0 ? half : std::max<int64_t>(0, half - 1))) & -unit;
}
// Moves v away from zero by `by`; towards zero if `by` is negative.
int64_t away(int64_t v, int64_t by) { return v >= 0 ? v + by : v - by; }

// Moves the first half of n values to the even places, the second half to the odd ones.
void interleave(int64_t* first, int64_t n, int64_t stride, std::vector<int64_t>& scratch) {
  scratch.resize(static_cast<size_t>(n));
  const int64_t half = (n + 1) / 2;
  for (int64_t k = 0; k < n; ++k)
    scratch[static_cast<size_t>(k < half ? 2 * k : 2 * (k - half) + 1)] = first[k * stride];
  for (int64_t k = 0; k < n; ++k) first[k * stride] = scratch[static_cast<size_t>(k)];
}

// Computes values from the sums of four (at the ends two, or one) of them and their differences, level by level. The
// lowest bits of a rounded coefficient follow from the others: they were not stored.
void invert(Coefficients& c) {
  const int levels = levels_of(std::max(c.rows, c.columns));
  std::vector<int64_t> scratch;
  c(0, 0) = rounded(c(0, 0), int64_t{2} << levels);
  for (int level = levels - 1; level >= 0; --level) {
    const int64_t h = halved(c.rows, level), w = halved(c.columns, level);
    const int64_t unit = int64_t{1} << level, twice = unit << 1;
    const int shift = level == 0 ? 2 : 1;
    for (int64_t y = 0; y < h; ++y) interleave(&c(y, 0), w, 1, scratch);
    for (int64_t x = 0; x < w; ++x) interleave(&c(0, x), h, c.columns, scratch);
    const auto two = [&](int64_t& sum, int64_t& difference) {
      const int64_t d = rounded(difference, twice), s = away(sum, -(d & twice));
      sum = (s - d) >> shift, difference = (s + d) >> shift;
    };
    for (int64_t y = 0; y < h; y += 2)
      for (int64_t x = 0; x < w; x += 2) {
        int64_t& sum = c(y, x);
        if (y + 1 == h && x + 1 == w) {
          sum >>= shift;
        } else if (y + 1 == h) {
          two(sum, c(y, x + 1));
        } else if (x + 1 == w) {
          two(sum, c(y + 1, x));
        } else {
          int64_t &down = c(y + 1, x), &right = c(y, x + 1), &both = c(y + 1, x + 1);
          const int64_t b = rounded(both, unit), low = b & unit;
          const int64_t d = away(rounded(down, twice), -low), r = away(rounded(right, twice), -low),
                        next = (b ^ d ^ r) & twice;
          const int64_t s = sum + (sum >= 0 ? low - next : low == 0 ? next : low - next);
          sum = (s - d - r + b) >> shift, right = (s - d + r - b) >> shift;
          down = (s + d - r - b) >> shift, both = (s + d + r + b) >> shift;
        }
      }
  }
}

}  // namespace

void decode_hcompress(std::span<const uint8_t> from, int64_t columns, std::vector<int64_t>& to) {
  Bits in(from);
  if (in.take(16) != 0xDD99) damaged();
  const auto number = [&] { return static_cast<int64_t>(static_cast<int32_t>(in.take(32))); };
  Coefficients c{number(), number(), to};
  const int64_t scale = number(), sum = in.take(64);
  if (c.rows < 2 || c.columns < 2 || c.columns != columns || c.rows != static_cast<int64_t>(to.size()) / columns)
    damaged();
  int planes[3];
  for (int& p : planes)
    if ((p = static_cast<int>(in.take(8))) > 40) damaged();
  std::fill(to.begin(), to.end(), 0);
  const int64_t top = (c.rows + 1) / 2, left = (c.columns + 1) / 2;
  decode_quadrant(in, c, 0, 0, top, left, planes[0]);
  decode_quadrant(in, c, 0, left, top, c.columns - left, planes[1]);
  decode_quadrant(in, c, top, 0, c.rows - top, left, planes[1]);
  decode_quadrant(in, c, top, left, c.rows - top, c.columns - left, planes[2]);
  if (in.take(4) != 0) damaged();
  in.to_byte();
  for (int64_t& v : to)
    if (v && in.take(1)) v = -v;
  to[0] = sum;
  const int64_t most =
      int64_t{1} << std::max(1, 58 - levels_of(std::max(c.rows, c.columns)));  // each level at most doubles the value
  for (int64_t& v : to) {
    if (v > most || v < -most || (scale > 1 && (v > most / scale || v < -most / scale))) damaged();
    if (scale > 1) v *= scale;
  }
  invert(c);
}

}  // namespace penstock
