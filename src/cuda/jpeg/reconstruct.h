// SPDX-License-Identifier: Apache-2.0
// From coefficients to pixels: the inverse DCT of codecs/jpeg/transform.h ("islow", with the 16-bit behavior of its
// vector forms), upsampling and color as in codecs/jpeg/color_scalar.inc.h. The same bytes.
#pragma once
#include "cuda/jpeg/color_rows.h"

namespace penstock::jpeg_gpu {

PENSTOCK_DEVICE uint32_t times(int32_t v, int32_t k) { return static_cast<uint32_t>(v * k); }

// One pass; in: values of 16 bits. Unsigned sums, because forged coefficients overflow.
template <uint32_t kShift> PENSTOCK_DEVICE void transform(const int32_t* in, int32_t* out) {
  constexpr int32_t k0_298 = 2446, k0_390 = 3196, k0_541 = 4433, k0_765 = 6270, k0_899 = 7373, k1_175 = 9633,
                    k1_501 = 12299, k1_847 = 15137, k1_961 = 16069, k2_053 = 16819, k2_562 = 20995, k3_072 = 25172;
  const auto wrap = [](int32_t v) { return signed_half(static_cast<uint32_t>(v)); };
  const uint32_t t0 = times(wrap(in[0] + in[4]), 8192), t1 = times(wrap(in[0] - in[4]), 8192);
  const uint32_t t2 = times(in[2], k0_541) + times(in[6], k0_541 - k1_847);
  const uint32_t t3 = times(in[2], k0_541 + k0_765) + times(in[6], k0_541);
  const int32_t s3 = wrap(in[3] + in[7]), s4 = wrap(in[1] + in[5]);
  const uint32_t z3 = times(s3, k1_175 - k1_961) + times(s4, k1_175);
  const uint32_t z4 = times(s3, k1_175) + times(s4, k1_175 - k0_390);
  const uint32_t u0 = times(in[7], k0_298 - k0_899) + times(in[1], -k0_899) + z3;
  const uint32_t u1 = times(in[5], k2_053 - k2_562) + times(in[3], -k2_562) + z4;
  const uint32_t u2 = times(in[5], -k2_562) + times(in[3], k3_072 - k2_562) + z3;
  const uint32_t u3 = times(in[7], -k0_899) + times(in[1], k1_501 - k0_899) + z4;
  constexpr uint32_t kRound = 1u << (kShift - 1);
  const uint32_t even[4] = {t0 + t3 + kRound, t1 + t2 + kRound, t1 - t2 + kRound, t0 - t3 + kRound};
  const uint32_t odd[4] = {u3, u2, u1, u0};
  PENSTOCK_UNROLL
  for (uint32_t i = 0; i < 4; ++i) {
    out[i] = static_cast<int32_t>(even[i] + odd[i]) >> kShift;
    out[7 - i] = static_cast<int32_t>(even[i] - odd[i]) >> kShift;
  }
}

// The picture of a block of a launch in which each picture has blocks from `first` on.
PENSTOCK_DEVICE uint32_t picture_of(const BatchTable& b, const uint32_t* first) {
  uint32_t low = 0, high = b.pictures - 1;
  while (low < high) {
    const uint32_t middle = (low + high + 1) >> 1;
    if (first[middle] <= blockIdx.x) low = middle;
    else high = middle - 1;
  }
  return low;
}
// The row in a grid. For i < 2^24 and i + width up to 2^24 a float is exact enough; else an integer.
PENSTOCK_DEVICE uint32_t row_of(uint32_t i, uint32_t width) {
  if (i < 1u << 22) return static_cast<uint32_t>((static_cast<float>(i) + 0.5f) / static_cast<float>(width));
  return i / width;
}

// The position of the block of a thread that takes every fourth one in a row of blocks, row after row, component after
// component.
struct BlockWalk {
  uint32_t q, lane, component = 0, x = 0, width = 0, block = 0, blocks_on = 0;
  uint32_t to = 0;  // in the samples: the row of the block that is this lane's
  bool on = false;
  PENSTOCK_DEVICE BlockWalk(const Picture& p, uint32_t first, uint32_t of_block) : q(first), lane(of_block) { find(p); }
  PENSTOCK_DEVICE void next(const Picture& p) {
    q += 4, x += 4, block += blocks_on, to += 32;
    if (x >= width) find(p);
  }

 private:
  PENSTOCK_DEVICE void find(const Picture& p) {
    const uint32_t columns = p.column_end - p.column_begin, mcus = columns * (p.row_end - p.row_begin);
    const uint32_t across = p.h >> 1, down = p.v >> 1, luma = mcus << (across + down);
    uint32_t i = q, sh = across, sv = down;
    component = 0;
    if (i >= luma) {
      i -= luma;
      sh = sv = 0;
      component = 1;
      if (i >= mcus) {
        i -= mcus;
        component = 2;
      }
    }
    on = component < p.planes && (component == 0 || i < mcus);
    width = columns << sh;
    const uint32_t y = row_of(i, width);
    x = i - y * width;
    const uint32_t in_mcu = component == 0 ? ((y & sv) << sh) + (x & sh) : (1u << (across + down)) + component - 1;
    block = p.stored_base + ((y >> sv) * columns + (x >> sh)) * p.mcu_blocks + in_mcu;
    blocks_on = (4 >> sh) * p.mcu_blocks;
    to = p.plane[component < 3 ? component : 2] + (y * 8 + lane) * (width * 8) + x * 8;
  }
};

// 8 threads per block, each a column and then a row; the blocks of each component in the order of the plane. The next
// block's data is on its way while one is transformed.
PENSTOCK_DEVICE void transform_blocks(const BatchTable& b) {
  alignas(16) __shared__ uint32_t passed[32][4 * 12];
  const uint32_t picture = picture_of(b, b.first_transform);
  const Picture& p = b.picture[picture];
  if (b.flags[picture]) return;
  const uint32_t l = threadIdx.x & 7, turns = b.turns;
  BlockWalk walk(
      p, ((blockIdx.x - b.first_transform[picture]) * 8 + (threadIdx.x >> 5)) * 4 * turns + (threadIdx.x >> 3 & 3), l);
  const SharedWords own(passed[threadIdx.x >> 3]), column = own + 4 * l, row = own + 48 * (l >> 1);
  const uint32_t half = l & 1 ? kHighHalf : kLowHalf;
  const auto* const quant = reinterpret_cast<const uint8_t*>(p.quant) + 16 * l;
  uint32_t unusual = 0, entry = 0;
  Words4 coefficients{0, 0, 0, 0};
  const auto load = [&] {
    coefficients = load_as<Words4>(b.coefficients + static_cast<uint64_t>(walk.block) * 64 + l * 8);
    if (l == 0) entry = b.block_entry[walk.block];
  };
  if (walk.on) load();
  Words4 k = load_as<Words4>(quant + 128 * (walk.on ? walk.component : 0));
  PENSTOCK_KEEP_LOOP
  for (uint32_t turn = 0; turn < turns; ++turn) {
    const uint32_t to = walk.to;
    const bool on = walk.on;
    if (on) {
      uint32_t pairs[4] = {coefficients.x, coefficients.y, coefficients.z, coefficients.w};
      const uint32_t component = walk.component;
      // Modulo 2^16, so that the bits above do not matter.
      if (l == 0)
        pairs[0] =
            (pairs[0] & 0xFFFF0000) | ((pairs[0] + static_cast<uint32_t>(b.entry[entry].dc[component])) & 0xFFFF);
      walk.next(p);
      if (turn + 1 < turns && walk.on) load();
      const uint32_t factors[4] = {k.x, k.y, k.z, k.w};
      int32_t in[8], out[8];
      PENSTOCK_UNROLL
      for (uint32_t j = 0; j < 4; ++j) {
        in[2 * j] = signed_half(pairs[j] * factors[j]);
        in[2 * j + 1] = signed_half((pairs[j] >> 16) * (factors[j] >> 16));
      }
      unusual |= static_cast<uint32_t>(in[0] + 8192) >> 14;  // a shift of only row 0, and saturation, differ there
      transform<11>(in, out);
      PENSTOCK_UNROLL
      for (uint32_t j = 0; j < 4; ++j) column.store(48 * j, saturate_pair(out[2 * j], out[2 * j + 1]));  // of two rows
      if (walk.on && walk.component != component) k = load_as<Words4>(quant + 128 * walk.component);
    }
    __syncwarp();
    if (on) {
      const Words4 u = row.load_four(0), v = row.load_four(16);
      const uint32_t columns[8] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w};
      int32_t in[8], out[8];
      PENSTOCK_UNROLL
      for (uint32_t j = 0; j < 8; ++j) in[j] = static_cast<int32_t>(pick_bytes(columns[j], 0, half));
      transform<18>(in, out);
      *reinterpret_cast<Words2*>(b.samples + to) =
          Words2{saturate_samples(out[0], out[1], out[2], out[3]), saturate_samples(out[4], out[5], out[6], out[7])};
    }
    __syncwarp();
  }
  if (unusual) atomicOr(b.flags + picture, kUnusualValue);
}

// JFIF's factors times 65536, for chroma as Cb | Cr << 16 with offset 128. For BGR the planes are exchanged.
struct ColorFactors {
  int32_t low, high, green_low, green_high;
  PENSTOCK_DEVICE explicit ColorFactors(bool bgr)
      : low(bgr ? 91881 : 116130),
        high(bgr ? 116130 : 91881),
        green_low(bgr ? -46802 : -22554),
        green_high(bgr ? -22554 : -46802) {}
};
// Converts 8 pixels to 6 words.
PENSTOCK_DEVICE void colors(Words2 luma, const uint32_t* chroma, const ColorFactors& k, uint32_t* to) {
  constexpr int32_t kHalf = 32768, kGreen = kHalf + (22554 + 46802) * 128;
  const int32_t low = kHalf - k.low * 128, high = kHalf - k.high * 128;
  uint32_t made[6];
  PENSTOCK_UNROLL
  for (uint32_t half = 0; half < 2; ++half) {
    int32_t v[12];
    PENSTOCK_UNROLL
    for (uint32_t j = 0; j < 4; ++j) {
      const int32_t y = (half ? luma.y : luma.x) >> (8 * j) & 255;
      const int32_t a = chroma[4 * half + j] & 0xFFFF, c = chroma[4 * half + j] >> 16;
      v[3 * j] = y + ((k.high * c + high) >> 16);
      v[3 * j + 1] = y + ((k.green_low * a + k.green_high * c + kGreen) >> 16);
      v[3 * j + 2] = y + ((k.low * a + low) >> 16);
    }
    PENSTOCK_UNROLL
    for (uint32_t i = 0; i < 3; ++i)
      made[3 * half + i] = saturate_bytes(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
  }
  PENSTOCK_UNROLL
  for (uint32_t i = 0; i < 6; ++i) to[i] = made[i];
}

// Writes the bytes [begin, begin + count) that `lanes` lanes have put into shared memory, to consecutive addresses,
// which may be odd: whole words except at the ends. May read a word before `from` and one after the bytes.
PENSTOCK_DEVICE void write_narrow_row(const uint32_t* from, uint32_t begin, uint32_t count, uint64_t to, uint32_t lane,
                                      uint32_t lanes) {
  auto* const bytes = reinterpret_cast<uint8_t*>(to);
  const uint32_t head = umin(static_cast<uint32_t>(0 - to) & 3, count), whole = (count - head) / 4,
                 tail = (count - head) & 3;
  const uint32_t source = begin + head, shift = 8 * (source & 3);
  auto* const words = reinterpret_cast<uint32_t*>(to + head);
  const uint32_t* const at = from + (source >> 2);
  if (shift == 0) {
    for (uint32_t k = lane; k < whole; k += lanes) words[k] = at[k];
  } else {
    for (uint32_t k = lane; k < whole; k += lanes) words[k] = funnel(at[k + 1], at[k], 32 - shift);
  }
  const auto* const own = reinterpret_cast<const uint8_t*>(from) + begin;
  for (uint32_t k = lane; k < head + tail; k += lanes) {
    const uint32_t i = k < head ? k : count - tail + (k - head);
    bytes[i] = own[i];
  }
}

// 8 x 2 pixels per thread, both chroma components at once in the halves of a word.
struct ChromaPlanes {
  const uint8_t *cb, *cr;
  uint32_t stride;
  int32_t left, right, top, bottom;  // valid samples: [left, right), [top, bottom)
  int32_t width, height;             // of the whole picture's chroma

  PENSTOCK_DEVICE uint32_t clamped_row(int32_t row) const {  // as an offset
    row = row < height ? row : height - 1;
    row = row < bottom ? row : bottom - 1;
    row = row > top ? row : top;
    return static_cast<uint32_t>(row - top) * stride;
  }
  // Samples from an offset on, which exist.
  PENSTOCK_DEVICE void four(uint32_t at, uint32_t* v) const {
    const uint32_t a = load_as<uint32_t>(cb + at), c = load_as<uint32_t>(cr + at);
    PENSTOCK_UNROLL
    for (uint32_t j = 0; j < 4; ++j) v[j] = pick_bytes(a, c, j | (4 + j) << 8) & 0x00FF00FF;
  }
  // And their neighbors, at `before` and `after` in the row.
  PENSTOCK_DEVICE void six(uint32_t row, uint32_t column, uint32_t before, uint32_t after, uint32_t* v) const {
    four(row + column, v + 1);
    v[0] = cb[row + before] | static_cast<uint32_t>(cr[row + before]) << 16;
    v[5] = cb[row + after] | static_cast<uint32_t>(cr[row + after]) << 16;
  }
};

// The samples of chroma that 8 pixels need.
struct ChromaColumns {
  uint32_t column, before, after;
  int32_t last;  // the last valid one of the four
  PENSTOCK_DEVICE ChromaColumns(const ChromaPlanes& c, int32_t x) {
    const int32_t i = x >> 1, most = c.width < c.right ? c.width : c.right;
    column = static_cast<uint32_t>(i - c.left);
    before = column > 0 ? column - 1 : 0;
    after = static_cast<uint32_t>((i + 4 < most ? i + 4 : most - 1) - c.left);
    last = c.width - 1 - i;
  }
  // The picture's last sample replaces those after it; before the first one, `before` is the first one.
  PENSTOCK_DEVICE void six(const ChromaPlanes& c, int32_t row, uint32_t* v) const {
    c.six(c.clamped_row(row), column, before, after, v);
    if (last < 3) {
      PENSTOCK_UNROLL
      for (int32_t j = 0; j < 3; ++j)
        if (j == last) v[j + 2] = v[j + 1];
    }
  }
};

// Chroma of 8 pixels from two rows that are six() each, the nearer one first ("fancy", in both directions).
PENSTOCK_DEVICE void between_rows(const uint32_t* near, const uint32_t* far, uint32_t* to) {
  uint32_t s[6];
  PENSTOCK_UNROLL
  for (uint32_t j = 0; j < 6; ++j) s[j] = 3 * near[j] + far[j];
  PENSTOCK_UNROLL
  for (uint32_t j = 0; j < 4; ++j) {
    const uint32_t a = 3 * s[j + 1];
    to[2 * j] = (a + s[j] + 0x00080008) >> 4 & 0x00FF00FF;
    to[2 * j + 1] = (a + s[j + 2] + 0x00070007) >> 4 & 0x00FF00FF;
  }
}

// Chroma of 8 x 2 pixels from x and an even y on, f(row, chroma) for each of the two rows.
template <class F>
PENSTOCK_DEVICE void upsample(int32_t h, int32_t v, const ChromaPlanes& c, int32_t y, int32_t x, const F& f) {
  uint32_t to[8];
  if (h == 1) {
    const auto column = static_cast<uint32_t>(x - c.left);
    PENSTOCK_KEEP_LOOP
    for (int32_t r = 0; r < 2; ++r) {
      const uint32_t row = c.clamped_row(v == 2 ? y >> 1 : y + r);
      c.four(row + column, to);
      c.four(row + column + 4, to + 4);
      if (v == 2) {
        uint32_t far[8];
        const uint32_t other = c.clamped_row((y >> 1) + (r ? 1 : -1)), round = r ? 0x00020002 : 0x00010001;
        c.four(other + column, far);
        c.four(other + column + 4, far + 4);
        PENSTOCK_UNROLL
        for (uint32_t j = 0; j < 8; ++j) to[j] = (3 * to[j] + far[j] + round) >> 2 & 0x00FF00FF;
      }
      f(r, to);
    }
    return;
  }
  const ChromaColumns columns(c, x);
  uint32_t s[6];
  PENSTOCK_KEEP_LOOP
  for (int32_t r = 0; r < 2; ++r) {
    columns.six(c, v == 2 ? y >> 1 : y + r, s);
    PENSTOCK_UNROLL
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t a = 3 * s[j + 1];
      const bool narrow = c.width <= 2;  // too narrow to interpolate
      to[2 * j] = narrow ? s[j + 1] : (a + s[j] + 0x00010001) >> 2 & 0x00FF00FF;
      to[2 * j + 1] = narrow ? s[j + 1] : (a + s[j + 2] + 0x00020002) >> 2 & 0x00FF00FF;
    }
    f(r, to);
  }
}

// 8 x 2 pixels per lane; a warp takes 32 groups of 8 of some pairs of rows, or of more pairs in narrow pictures. Rows
// go through shared memory, so that neighboring lanes write neighboring words.
PENSTOCK_DEVICE void write_pixels(const BatchTable& b) {
  alignas(16) __shared__ uint32_t rows[kThreads / 32][2][kRowWords];
  const uint32_t picture = picture_of(b, b.first_color);
  const Picture& p = b.picture[picture];
  if (b.flags[picture]) return;
  const uint32_t x0 = p.x & ~7u, y0 = p.y & ~1u, x1 = p.x + p.region_width, y1 = p.y + p.region_height;
  const uint32_t groups = (x1 - x0 + 7) / 8, pairs = (y1 - y0 + 1) / 2, lanes = p.lanes,
                 parts = (groups + lanes - 1) / lanes;
  const uint32_t number = (blockIdx.x - b.first_color[picture]) * (kThreads / 32) + (threadIdx.x >> 5),
                 lane = threadIdx.x & 31;
  const uint32_t row_number = number / parts, first = (number - row_number * parts) * lanes,
                 of_lanes = lane & (lanes - 1);
  if (lanes == 32 && p.dense && p.planes == 3 && p.h == 2 && p.v == 2) {  // so wide that chroma is interpolated
    uint32_t* const own = rows[threadIdx.x >> 5][0];
    if (p.bgr) write_color_rows<true>(b, p, first, groups, row_number * b.turns, pairs, own);
    else write_color_rows<false>(b, p, first, groups, row_number * b.turns, pairs, own);
    return;
  }
  const uint32_t group = first + of_lanes, number_of_row = lane / lanes;
  const int32_t x = static_cast<int32_t>(x0 + group * 8);
  const int32_t columns = static_cast<int32_t>(p.column_end - p.column_begin), h = static_cast<int32_t>(p.h),
                v = static_cast<int32_t>(p.v);
  const int32_t left = static_cast<int32_t>(p.column_begin) * 8, top = static_cast<int32_t>(p.row_begin) * 8;
  const bool color = p.planes == 3;
  const uint32_t bgr = p.bgr;
  const ChromaPlanes chroma{b.samples + p.plane[bgr ? 2 : 1],
                            b.samples + p.plane[bgr ? 1 : 2],
                            static_cast<uint32_t>(columns) * 8,
                            left,
                            left + columns * 8,
                            top,
                            static_cast<int32_t>(p.row_end) * 8,
                            (static_cast<int32_t>(p.width) + h - 1) / h,
                            (static_cast<int32_t>(p.height) + v - 1) / v};
  const ColorFactors factors(bgr);
  const uint32_t channels = p.channels, words = 2 * channels;
  const uint32_t first_pair = (row_number * (32 / lanes) + number_of_row) * b.turns;
  uint32_t* const of_lane = rows[threadIdx.x >> 5][0] + 4 + lane * words;
  // The pixels of this part of the row that are in the region.
  const int32_t part_x = static_cast<int32_t>(x0 + first * 8);
  const int32_t skipped = static_cast<int32_t>(p.x) > part_x ? static_cast<int32_t>(p.x) - part_x : 0;
  const int32_t part_end = static_cast<int32_t>(umin(x1, x0 + (first + lanes) * 8)) - part_x;
  const bool both_ways = color && h == 2 && v == 2 && chroma.width > 2;
  const uint32_t stride = static_cast<uint32_t>(columns * 8 * h);
  uint32_t above[6], here[6];  // rows of chroma
  PENSTOCK_KEEP_LOOP
  for (uint32_t turn = 0; turn < b.turns; ++turn) {
    const uint32_t pair = first_pair + turn;
    const bool inside = pair < pairs && group < groups;
    const int32_t y = static_cast<int32_t>(y0 + pair * 2);
    if (inside) {
      const uint8_t* const luma = b.samples + p.plane[0] + static_cast<uint32_t>(y - top * v) * stride + (x - left * h);
      const auto luma_of = [&](int32_t r) { return load_as<Words2>(luma + static_cast<uint32_t>(r) * stride); };
      const auto put = [&](int32_t r, const uint32_t* of_chroma) {
        colors(luma_of(r), of_chroma, factors, of_lane + static_cast<uint32_t>(r) * kRowWords);
      };
      if (both_ways) {
        const ChromaColumns of_group(chroma, x);
        uint32_t below[6], to[8];
        if (turn == 0) {
          of_group.six(chroma, (y >> 1) - 1, above);
          of_group.six(chroma, y >> 1, here);
        }
        of_group.six(chroma, (y >> 1) + 1, below);
        between_rows(here, above, to);
        put(0, to);
        between_rows(here, below, to);
        put(1, to);
        PENSTOCK_UNROLL
        for (uint32_t k = 0; k < 6; ++k) above[k] = here[k], here[k] = below[k];
      } else if (color) {
        upsample(h, v, chroma, y, x, put);
      } else {
        for (int32_t r = 0; r < 2; ++r) {
          uint32_t* const mine = of_lane + static_cast<uint32_t>(r) * kRowWords;
          const Words2 l = luma_of(r);
          if (channels == 1) {
            mine[0] = l.x, mine[1] = l.y;
          } else {
            mine[0] = pick_bytes(l.x, 0, 0x1000), mine[1] = pick_bytes(l.x, 0, 0x2211),
            mine[2] = pick_bytes(l.x, 0, 0x3332);
            mine[3] = pick_bytes(l.y, 0, 0x1000), mine[4] = pick_bytes(l.y, 0, 0x2211),
            mine[5] = pick_bytes(l.y, 0, 0x3332);
          }
        }
      }
    }
    __syncwarp();
    for (int32_t r = 0; r < 2; ++r) {
      const int32_t row_y = y + r - static_cast<int32_t>(p.y);
      if (pair >= pairs || row_y < 0 || row_y >= static_cast<int32_t>(p.region_height)) continue;
      const uint32_t* const of_row = of_lane + static_cast<uint32_t>(r) * kRowWords - of_lanes * words;
      const int64_t row = row_y * p.row_step;
      const int32_t bytes = static_cast<int32_t>(channels), begin = part_x + skipped - static_cast<int32_t>(p.x);
      if (p.dense) {
        write_narrow_row(of_row, static_cast<uint32_t>(skipped * bytes),
                         static_cast<uint32_t>((part_end - skipped) * bytes),
                         p.out + static_cast<uint64_t>(row + begin * bytes), of_lanes, lanes);
      } else {
        const auto* const from = reinterpret_cast<const uint8_t*>(of_row);
        for (int32_t i = skipped + static_cast<int32_t>(of_lanes); i < part_end; i += static_cast<int32_t>(lanes)) {
          auto* const to =
              reinterpret_cast<uint8_t*>(p.out + static_cast<uint64_t>(row + (begin + i - skipped) * p.pixel_step));
          for (int32_t k = 0; k < bytes; ++k) to[k] = from[i * bytes + k];
        }
      }
    }
    __syncwarp();
  }
}

}  // namespace penstock::jpeg_gpu
