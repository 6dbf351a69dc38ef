// SPDX-License-Identifier: Apache-2.0
// The two kernels of what JPEG preserves: pixels to blocks and through their transforms, planes to pixels. Threads take
// rows, then columns, of eight samples, which are in registers as long as one transform takes.
#pragma once
#include "families/blocks/kernels/transform.h"
#include "launch/entry.h"

namespace penstock::blocks {

using namespace whole;

// Frames follow each other. Planes of each: luma, blue, red; padded to whole groups of 16 x 16 pixels.
struct JpegRow {
  const uint8_t* in;
  uint8_t* out;
  uint8_t* planes;
  int32_t height, width, columns, rows;  // of pixels, and of groups
  uint8_t steps[128];                    // of quantization: luma, chroma
};
static_assert(sizeof(JpegRow) == 168);

// Units of jpeg_blocks are groups, of which a block has so many in its memory. Rows of a block are so far apart, and
// blocks, that threads meet no other's bank.
constexpr int kJpegGroups = 16, kPitch = 12, kBlockWords = 104, kGroupWords = 6 * kBlockWords;
constexpr int kPlaceBytes = 16, kJpegBytes = kJpegGroups * (kGroupWords * 4 + kPlaceBytes) + 2 * 128 * 4;

struct alignas(16) FourNumbers {
  int32_t v[4];
};
struct alignas(8) TwoNumbers {
  int32_t v[2];
};
struct alignas(8) EightBytes {
  uint32_t v[2];
};
PENSTOCK_KERNEL uint32_t moved_down(uint32_t low, uint32_t high, int bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, bits);
#else
  return static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) >> bits);
#endif
}
// Two numbers as bytes, and two more in the upper half.
PENSTOCK_KERNEL uint32_t clamped_bytes(int32_t a, int32_t b, int32_t c, int32_t d) {
#ifdef __CUDA_ARCH__
  uint32_t upper, all;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(upper) : "r"(d), "r"(c));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(b), "r"(a), "r"(upper));
  return all;
#else
  return byte_of(a) | byte_of(b) << 8 | byte_of(c) << 16 | static_cast<uint32_t>(byte_of(d)) << 24;
#endif
}
// Of numbers that are mostly small.
PENSTOCK_KERNEL int64_t quotient(int64_t a, int32_t b) {
  return a >> 32 ? a / b : static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
}
// The place of a group among those of all frames. A block finds those of its groups once: a thread's two divisions take
// as long as three pixels.
struct GroupPlace {
  int64_t frame;
  int32_t row, column;
};
static_assert(sizeof(GroupPlace) == kPlaceBytes);
PENSTOCK_KERNEL GroupPlace group_place(const JpegRow& r, int64_t number) {
  const int64_t line = quotient(number, r.columns), frame = quotient(line, r.rows);
  return {frame, static_cast<int32_t>(line - frame * r.rows), static_cast<int32_t>(number - line * r.columns)};
}

// Four pixels of two rows as numbers of a group's blocks: 2 x 4 of luma, 2 of each chroma.
struct ColorTask {
  int32_t* group;
  int pair, quad;  // of rows, of columns

  PENSTOCK_KERNEL void put_luma(int row, const int32_t (&v)[4]) const {
    int32_t* const to = group + (row / 8 * 2 + quad / 2) * kBlockWords + row % 8 * kPitch + quad % 2 * 4;
    *reinterpret_cast<FourNumbers*>(to) = {{v[0], v[1], v[2], v[3]}};
  }
  PENSTOCK_KERNEL void put_chroma(const int32_t (&blue)[2], const int32_t (&red)[2]) const {
    int32_t* const to = group + 4 * kBlockWords + pair * kPitch + quad * 2;
    *reinterpret_cast<TwoNumbers*>(to) = {{chroma_of(blue[0], 0), chroma_of(blue[1], 1)}};
    *reinterpret_cast<TwoNumbers*>(to + kBlockWords) = {{chroma_of(red[0], 0), chroma_of(red[1], 1)}};
  }
  // All pixels are in the image.
  PENSTOCK_KERNEL void inside(const uint8_t* from, int64_t row_bytes) const {
    int32_t blue[2] = {}, red[2] = {};
    PENSTOCK_UNROLL
    for (int y = 0; y < 2; ++y, from += row_bytes) {
      const int past = static_cast<int>(reinterpret_cast<uint64_t>(from) & 3), shift = past * 8;
      const auto* words = reinterpret_cast<const uint32_t*>(from - past);
      uint32_t w[4] = {words[0], words[1], words[2], shift ? words[3] : 0};
      for (int k = 0; k < 3; ++k) w[k] = moved_down(w[k], w[k + 1], shift);
      int32_t luma[4];
      PENSTOCK_UNROLL
      for (int x = 0; x < 4; ++x) {
        const auto byte = [&](int b) { return static_cast<int32_t>(w[b / 4] >> b % 4 * 8 & 255); };
        const int32_t r = byte(3 * x), g = byte(3 * x + 1), b = byte(3 * x + 2);
        luma[x] = luma_of(r, g, b), blue[x / 2] += blue_of(r, g, b), red[x / 2] += red_of(r, g, b);
      }
      put_luma(2 * pair + y, luma);
    }
    put_chroma(blue, red);
  }
  // Those outside are the nearest ones inside; chroma ends with its own last row.
  PENSTOCK_KERNEL void at_the_border(const JpegRow& r, const uint8_t* frame, int32_t y0, int32_t x0) const {
    const auto pixel = [&](int32_t y, int32_t x) {
      const int64_t row = y < r.height ? y : r.height - 1;
      return frame + (row * r.width + (x < r.width ? x : r.width - 1)) * 3;
    };
    const int32_t last = (r.height + 1) / 2 - 1, own = y0 / 2 + pair, near = own < last ? own : last;
    int32_t blue[2] = {}, red[2] = {};
    for (int y = 0; y < 2; ++y) {
      int32_t luma[4];
      for (int x = 0; x < 4; ++x) {
        const uint8_t* p = pixel(y0 + 2 * pair + y, x0 + 4 * quad + x);
        luma[x] = luma_of(p[0], p[1], p[2]);
        p = pixel(2 * near + y, x0 + 4 * quad + x);
        blue[x / 2] += blue_of(p[0], p[1], p[2]), red[x / 2] += red_of(p[0], p[1], p[2]);
      }
      put_luma(2 * pair + y, luma);
    }
    put_chroma(blue, red);
  }
};

struct JpegTables {
  uint32_t inverse[128];  // of 8 steps: their quotient of a number is the upper word of the product
  int32_t step[128];
};
// quantized() by a product; exact, for v is less than 2^20.
PENSTOCK_KERNEL int32_t quantized(int32_t v, const JpegTables& tables, int k) {
  const int32_t step = tables.step[k];
  const auto size = static_cast<uint32_t>((v < 0 ? -v : v) + step * 4);
#ifdef __CUDA_ARCH__
  const auto n = static_cast<int32_t>(__umulhi(size, tables.inverse[k])) * step;
#else
  const auto n = static_cast<int32_t>(static_cast<uint64_t>(size) * tables.inverse[k] >> 32) * step;
#endif
  return v < 0 ? -n : n;
}

PENSTOCK_KERNEL void load_eight(const int32_t* row, int32_t (&to)[8]) {
  const FourNumbers low = *reinterpret_cast<const FourNumbers*>(row);
  const FourNumbers high = *reinterpret_cast<const FourNumbers*>(row + 4);
  for (int k = 0; k < 4; ++k) to[k] = low.v[k], to[4 + k] = high.v[k];
}
PENSTOCK_KERNEL void transform_rows(int32_t* row) {
  int32_t in[8];
  load_eight(row, in);
  const Eight r = forward(in, 1, -2, 11);
  *reinterpret_cast<FourNumbers*>(row) = {{r.v[0], r.v[1], r.v[2], r.v[3]}};
  *reinterpret_cast<FourNumbers*>(row + 4) = {{r.v[4], r.v[5], r.v[6], r.v[7]}};
}
PENSTOCK_KERNEL void transform_columns(int32_t* column, const JpegTables& tables, int first) {
  int32_t in[8];
  for (int k = 0; k < 8; ++k) in[k] = column[k * kPitch];
  Eight r = forward(in, 1, 2, 15);
  for (int k = 0; k < 8; ++k) in[k] = quantized(r.v[k], tables, first + k * 8);
  r = inverse(in, 1, 11);
  for (int k = 0; k < 8; ++k) column[k * kPitch] = r.v[k];
}
PENSTOCK_KERNEL EightBytes samples_of_row(const int32_t* row) {
  int32_t in[8];
  load_eight(row, in);
  const Eight r = inverse(in, 1, 18);
  const auto v = [&](int k) { return r.v[k] + 128; };
  return {{clamped_bytes(v(0), v(1), v(2), v(3)), clamped_bytes(v(4), v(5), v(6), v(7))}};
}

PENSTOCK_KERNEL void jpeg_blocks(const Entry<JpegRow>& e) {
  const JpegRow& r = e.row;
  int32_t* const memory = shared_memory<int32_t>();
  JpegTables& tables = *reinterpret_cast<JpegTables*>(memory + kJpegGroups * kGroupWords);
  auto* const places = reinterpret_cast<GroupPlace*>(&tables + 1);
  for (int k = thread(); k < 128; k += threads())
    tables.step[k] = r.steps[k], tables.inverse[k] = 0xFFFFFFFFu / (r.steps[k] * 8u) + 1;
  const int64_t row_bytes = static_cast<int64_t>(r.width) * 3, plane = int64_t{r.columns} * r.rows * 64;
  for (int64_t first = e.begin; first < e.end; first += kJpegGroups) {
    const int groups = e.end - first < kJpegGroups ? static_cast<int>(e.end - first) : kJpegGroups;
    for (int t = thread(); t < groups; t += threads()) places[t] = group_place(r, first + t);
    wait_for_block();
    for (int t = thread(); t < kJpegGroups * 32; t += threads()) {  // neighbors take neighboring pixels
      const int group = t % (kJpegGroups * 4) / 4;
      if (group >= groups) continue;
      const GroupPlace at = places[group];
      const ColorTask task{memory + group * kGroupWords, t / (kJpegGroups * 4), t % 4};
      const int32_t y = at.row * 16, x = at.column * 16;
      const uint8_t* const frame = r.in + at.frame * r.height * row_bytes;
      if (y + 16 <= r.height && x + 16 <= r.width)
        task.inside(frame + (y + 2 * task.pair) * row_bytes + (x + 4 * task.quad) * 3, row_bytes);
      else task.at_the_border(r, frame, y, x);
    }
    wait_for_block();
    const int tasks = groups * 48;
    for (int t = thread(); t < tasks; t += threads())
      transform_rows(memory + (t >> 3) * kBlockWords + (t & 7) * kPitch);
    wait_for_block();
    for (int t = thread(); t < tasks; t += threads()) {
      const int block = t >> 3;
      transform_columns(memory + block * kBlockWords + (t & 7), tables, (block % 6 < 4 ? 0 : 64) + (t & 7));
    }
    wait_for_block();
    for (int t = thread(); t < tasks; t += threads()) {
      const int block = t >> 3, row = t & 7, own = block % 6;
      const EightBytes made = samples_of_row(memory + block * kBlockWords + row * kPitch);
      const GroupPlace at = places[block / 6];
      uint8_t* to = r.planes + at.frame * plane * 6;
      const int32_t half = r.columns * 8;
      if (own < 4) to += (at.row * 16 + own / 2 * 8 + row) * int64_t{2 * half} + at.column * 16 + own % 2 * 8;
      else to += plane * own + (at.row * 8 + row) * int64_t{half} + at.column * 8;
      *reinterpret_cast<EightBytes*>(to) = made;
    }
    wait_for_block();
  }
}

// Chroma of eight pixels of a row, from five columns and the one before, each the sum of two rows. Two sums a word.
struct ChromaRow {
  const uint8_t *near, *far;
  int32_t n;  // columns

  // Of the pixels from x on, a multiple of 8.
  PENSTOCK_KERNEL void eight(int32_t x, int32_t (&to)[8]) const {
    const int32_t c = x / 2;
    if (c == 0 || c + 5 > n) return at_the_border(c, to);
    const uint32_t a = *reinterpret_cast<const uint32_t*>(near + c), b = *reinterpret_cast<const uint32_t*>(far + c);
    constexpr uint32_t kEven = 0x00FF00FFu;
    const uint32_t sum_02 = 3 * (a & kEven) + (b & kEven), sum_13 = 3 * (a >> 8 & kEven) + (b >> 8 & kEven);
    const auto before = static_cast<uint32_t>(sum(c - 1)), after = static_cast<uint32_t>(sum(c + 4));
    const uint32_t even_02 = 3 * sum_02 + (before | sum_13 << 16) + 0x00080008u;
    const uint32_t odd_02 = 3 * sum_02 + sum_13 + 0x00070007u;
    const uint32_t even_13 = 3 * sum_13 + sum_02 + 0x00080008u;
    const uint32_t odd_13 = 3 * sum_13 + (sum_02 >> 16 | after << 16) + 0x00070007u;
    const uint32_t all[4] = {even_02, odd_02, even_13, odd_13};
    for (int k = 0; k < 4; ++k)
      to[k] = static_cast<int32_t>(all[k] >> 4 & 0xFF), to[4 + k] = static_cast<int32_t>(all[k] >> 20);
  }

 private:
  PENSTOCK_KERNEL int32_t sum(int32_t c) const { return 3 * near[c] + far[c]; }
  PENSTOCK_KERNEL void at_the_border(int32_t c, int32_t (&to)[8]) const {
    const auto inside = [&](int32_t k) { return k < 0 ? 0 : k < n ? k : n - 1; };
    for (int k = 0; k < 4; ++k) {
      const int32_t own = sum(inside(c + k)), before = sum(inside(c + k - 1)), after = sum(inside(c + k + 1));
      to[2 * k] = n <= 2 ? near[inside(c + k)] : even_column(own, before);
      to[2 * k + 1] = n <= 2 ? to[2 * k] : odd_column(own, after);
    }
  }
};

// Units of jpeg_colors are eight pixels of a row, of which a block makes kThreads at once.
constexpr int kColorBytes = kThreads * 24 + 16;

// The pixels of one unit as words.
PENSTOCK_KERNEL void color_pixels(const JpegRow& r, int64_t line, int32_t x, uint32_t (&to)[6]) {
  const int64_t frame = quotient(line, r.height);
  const int32_t half = r.columns * 8, last = (r.height + 1) / 2 - 1, n = (r.width + 1) / 2;
  const int64_t plane = int64_t{half} * r.rows * 8;
  const auto y = static_cast<int32_t>(line - frame * r.height);
  const uint8_t* const luma = r.planes + frame * plane * 6;
  const EightBytes lumas = *reinterpret_cast<const EightBytes*>(luma + int64_t{y} * 2 * half + x);
  const int32_t own = y / 2, side = y % 2 ? own + 1 : own - 1, other = side < 0 ? 0 : side < last ? side : last;
  const uint8_t* const near = luma + plane * 4 + int64_t{own} * half;
  const uint8_t* const far = luma + plane * 4 + int64_t{other} * half;
  int32_t blue[8], red[8], color[24];
  ChromaRow{near, far, n}.eight(x, blue);
  ChromaRow{near + plane, far + plane, n}.eight(x, red);
  for (int k = 0; k < 8; ++k) {
    const auto v = static_cast<int32_t>(lumas.v[k / 4] >> k % 4 * 8 & 255);
    const int32_t b = blue[k] - 128, d = red[k] - 128;
    color[3 * k] = v + to_red(d), color[3 * k + 1] = v + to_green(b, d), color[3 * k + 2] = v + to_blue(b);
  }
  for (int k = 0; k < 6; ++k) to[k] = clamped_bytes(color[4 * k], color[4 * k + 1], color[4 * k + 2], color[4 * k + 3]);
}
// The first byte of a unit in the output, where units follow each other: the last one of a row may be shorter.
PENSTOCK_KERNEL int64_t unit_begin(const JpegRow& r, int64_t unit, int32_t across) {
  const int64_t line = quotient(unit, across);
  return (line * r.width + (unit - line * across) * 8) * 3;
}
// Writes `count` bytes from shared memory to `to`. Both begin `lead` bytes after a multiple of 16.
PENSTOCK_KERNEL void store_alike(uint8_t* to, const uint8_t* from, int lead, int count) {
  const int first = lead ? 16 - lead : 0, vectors = count > first ? (count - first) / 16 : 0;
  for (int k = thread(); k < vectors; k += threads())
    reinterpret_cast<FourNumbers*>(to + first)[k] = reinterpret_cast<const FourNumbers*>(from + first)[k];
  const int rest = first + 16 * vectors;
  for (int k = thread(); k < 32; k += threads()) {
    if (k < first && k < count) to[k] = from[k];
    if (rest + k < count) to[rest + k] = from[rest + k];
  }
}

// The units from `first` on, of rows that are not whole units: the last one of a row is shorter.
PENSTOCK_KERNEL void color_parts(const JpegRow& r, uint8_t* memory, int64_t first, int units, int32_t across) {
  const int64_t begin = unit_begin(r, first, across);
  const int count = static_cast<int>(unit_begin(r, first + units, across) - begin);
  const int lead = static_cast<int>(reinterpret_cast<uint64_t>(r.out + begin) & 15);
  for (int t = thread(); t < units; t += threads()) {
    const int64_t unit = first + t, line = quotient(unit, across);
    const auto x = static_cast<int32_t>(unit - line * across) * 8;
    uint32_t words[6];
    color_pixels(r, line, x, words);
    uint8_t* const to = memory + lead + static_cast<int>((line * r.width + x) * 3 - begin);
    const int own = (r.width - x < 8 ? r.width - x : 8) * 3;
    PENSTOCK_UNROLL
    for (int k = 0; k < 24; ++k)
      if (k < own) to[k] = static_cast<uint8_t>(words[k / 4] >> k % 4 * 8);
  }
  wait_for_block();
  store_alike(r.out + begin, memory + lead, lead, count);
  wait_for_block();
}

PENSTOCK_KERNEL void jpeg_colors(const Entry<JpegRow>& e) {
  const JpegRow& r = e.row;
  auto* const memory = shared_memory<EightBytes>();
  const int32_t across = (r.width + 7) / 8;
  const bool whole = r.width % 8 == 0 && reinterpret_cast<uint64_t>(r.out) % 16 == 0;  // units follow each other
  for (int64_t first = e.begin; first < e.end; first += kThreads) {
    const int units = e.end - first < kThreads ? static_cast<int>(e.end - first) : kThreads;
    if (!whole) {
      color_parts(r, reinterpret_cast<uint8_t*>(memory), first, units, across);
      continue;
    }
    for (int t = thread(); t < units; t += threads()) {
      const int64_t unit = first + t, line = quotient(unit, across);
      uint32_t words[6];
      color_pixels(r, line, static_cast<int32_t>(unit - line * across) * 8, words);
      for (int k = 0; k < 3; ++k) memory[3 * t + k] = {{words[2 * k], words[2 * k + 1]}};
    }
    wait_for_block();
    const auto* const from = reinterpret_cast<const FourNumbers*>(memory);
    auto* const to = reinterpret_cast<FourNumbers*>(r.out + first * 24);
    for (int k = thread(); k < units * 3 / 2; k += threads()) to[k] = from[k];
    if (units % 2 && thread() == 0) *reinterpret_cast<EightBytes*>(to + units * 3 / 2) = memory[units * 3 - 1];
    wait_for_block();
  }
}

}  // namespace penstock::blocks
