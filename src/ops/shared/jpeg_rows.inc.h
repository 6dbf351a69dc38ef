// SPDX-License-Identifier: Apache-2.0
// Included once per target by jpeg_rows.cpp. The loops over eight columns of a block are vectors of eight.

// 8 x 8 numbers; rows of the source are `step` apart.
inline __attribute__((always_inline)) void transpose_8(const int32_t* from, int64_t step, int32_t* to) {
#if PENSTOCK_TARGET_FLOATS
  __m256i a[8], b[8];
  for (int i = 0; i < 8; ++i) a[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i * step));
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_epi32(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_epi32(a[i], a[i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int k = 0; k < 2; ++k) {
      a[i + 2 * k] = _mm256_unpacklo_epi64(b[i + k], b[i + k + 2]);
      a[i + 2 * k + 1] = _mm256_unpackhi_epi64(b[i + k], b[i + k + 2]);
    }
  for (int i = 0; i < 4; ++i) {
    auto* row = reinterpret_cast<__m256i*>(to + i * 8);
    _mm256_storeu_si256(row, _mm256_permute2x128_si256(a[i], a[i + 4], 0x20));
    _mm256_storeu_si256(row + 4, _mm256_permute2x128_si256(a[i], a[i + 4], 0x31));
  }
#else
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < 8; ++k) to[k * 8 + i] = from[i * step + k];
#endif
}

// From samples around 0 to those that a decoder would have; `steps` are those of the quantization.
inline void through_block(const int32_t* in, int64_t in_step, const int32_t* steps, uint8_t* out, int64_t out_step) {
  alignas(32) int32_t a[64], b[64];
  transpose_8(in, in_step, a);
#pragma GCC ivdep
  for (int i = 0; i < 8; ++i) {
    const blocks::Eight r = blocks::forward(a + i, 8, -2, 11);
    a[i] = r.v[0], a[8 + i] = r.v[1], a[16 + i] = r.v[2], a[24 + i] = r.v[3];
    a[32 + i] = r.v[4], a[40 + i] = r.v[5], a[48 + i] = r.v[6], a[56 + i] = r.v[7];
  }
  transpose_8(a, 8, b);
#pragma GCC ivdep
  for (int i = 0; i < 8; ++i) {
    const blocks::Eight r = blocks::forward(b + i, 8, 2, 15);
    b[i] = r.v[0], b[8 + i] = r.v[1], b[16 + i] = r.v[2], b[24 + i] = r.v[3];
    b[32 + i] = r.v[4], b[40 + i] = r.v[5], b[48 + i] = r.v[6], b[56 + i] = r.v[7];
  }
  for (int i = 0; i < 64; ++i) b[i] = blocks::quantized(b[i], steps[i]);
#pragma GCC ivdep
  for (int i = 0; i < 8; ++i) {
    const blocks::Eight r = blocks::inverse(b + i, 8, 11);
    b[i] = r.v[0], b[8 + i] = r.v[1], b[16 + i] = r.v[2], b[24 + i] = r.v[3];
    b[32 + i] = r.v[4], b[40 + i] = r.v[5], b[48 + i] = r.v[6], b[56 + i] = r.v[7];
  }
  transpose_8(b, 8, a);
#pragma GCC ivdep
  for (int i = 0; i < 8; ++i) {
    const blocks::Eight r = blocks::inverse(a + i, 8, 18);
    a[i] = r.v[0], a[8 + i] = r.v[1], a[16 + i] = r.v[2], a[24 + i] = r.v[3];
    a[32 + i] = r.v[4], a[40 + i] = r.v[5], a[48 + i] = r.v[6], a[56 + i] = r.v[7];
  }
  transpose_8(a, 8, b);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) out[y * out_step + x] = blocks::byte_of(b[y * 8 + x] + 128);
}

// A row of groups: 16 rows of pixels to 16 of luma and 8 of each chroma.
inline void row_of_groups(const uint8_t* in, int64_t row, const blocks::JpegRow& c, Target target, uint8_t* pixels,
                          int32_t* samples, uint8_t* planes) {
  const int64_t width = c.columns * int64_t{16}, half = width / 2, last = (c.height + 1) / 2 - 1;
  int32_t* const luma = samples;             // 16 rows
  int32_t* const full = luma + 16 * width;   // blue and red of two rows
  int32_t* const chroma = full + 4 * width;  // 8 rows of blue, 8 of red
  const auto split = [&](int64_t y) {
    split_row(in + std::min<int64_t>(y, c.height - 1) * c.width * 3, pixels, c.width, width, target);
    for (int k = 0; k < 3; ++k)
      std::fill(pixels + k * width + c.width, pixels + (k + 1) * width, pixels[k * width + c.width - 1]);
  };
  const uint8_t *r = pixels, *g = pixels + width, *b = pixels + 2 * width;
  for (int64_t y = 0; y < 16; ++y) {
    split(row * 16 + y);
    int32_t* __restrict to = luma + y * width;
    for (int64_t x = 0; x < width; ++x) to[x] = blocks::luma_of(r[x], g[x], b[x]);
    const int64_t pair = row * 8 + y / 2;
    if (pair > last) {  // chroma ends with the last pair of rows
      if (y % 2 == 1)
        for (int64_t p = 0; p < 2; ++p) {
          int32_t* const line = chroma + (8 * p + y / 2) * half;
          std::copy(line - half, line, line);
        }
      continue;
    }
    int32_t* __restrict blue = full + y % 2 * width;
    int32_t* __restrict red = blue + 2 * width;
    for (int64_t x = 0; x < width; ++x) blue[x] = blocks::blue_of(r[x], g[x], b[x]);
    for (int64_t x = 0; x < width; ++x) red[x] = blocks::red_of(r[x], g[x], b[x]);
    if (y % 2 == 0) continue;
    for (int64_t p = 0; p < 2; ++p) {
      const int32_t* upper = full + 2 * p * width;
      const int32_t* lower = upper + width;
      int32_t* __restrict line = chroma + (8 * p + y / 2) * half;
      for (int64_t x = 0; x < half; ++x) {  // rounds down and up alternately
        const int32_t sum = upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1];
        line[x] = blocks::chroma_of(sum, static_cast<int>(x));
      }
    }
  }
  alignas(32) int32_t steps[128];
  for (int i = 0; i < 128; ++i) steps[i] = c.steps[i];
  uint8_t* const to_blue = planes + c.rows * 16 * width;
  for (int64_t k = 0; k < 2 * c.columns; ++k)
    for (int64_t y = 0; y < 16; y += 8)
      through_block(luma + y * width + k * 8, width, steps, planes + (row * 16 + y) * width + k * 8, width);
  for (int64_t k = 0; k < c.columns; ++k)
    for (int64_t p = 0; p < 2; ++p)
      through_block(chroma + 8 * p * half + k * 8, half, steps + 64, to_blue + (p * c.rows + row) * 8 * half + k * 8,
                    half);
}

// A row of pixels, in planes that are as wide as all groups.
inline void color_row(const uint8_t* planes, int64_t y, const blocks::JpegRow& c, int32_t* sums, uint8_t* colors) {
  const int64_t width = c.columns * int64_t{16}, half = width / 2, n = (c.width + 1) / 2, rows = (c.height + 1) / 2;
  const uint8_t* luma = planes + y * width;
  const uint8_t* blue = planes + c.rows * 16 * width;
  int32_t* const own = sums + 1;          // with one more at each end
  int32_t* const wide = sums + half + 2;  // blue, red
  const int64_t far_row = std::clamp<int64_t>(y % 2 ? y / 2 + 1 : y / 2 - 1, 0, rows - 1);
  for (int64_t p = 0; p < 2; ++p) {
    const uint8_t* plane = blue + p * c.rows * 8 * half;
    const uint8_t *near = plane + y / 2 * half, *far = plane + far_row * half;
    int32_t* __restrict to = wide + p * width;
    if (n <= 2) {
      for (int64_t x = 0; x < n; ++x) to[2 * x] = to[2 * x + 1] = near[x] - 128;
      continue;
    }
    for (int64_t x = 0; x < n; ++x) own[x] = 3 * near[x] + far[x];
    own[-1] = own[0], own[n] = own[n - 1];
#pragma GCC ivdep
    for (int64_t x = 0; x < n; ++x) {
      to[2 * x] = blocks::even_column(own[x], own[x - 1]) - 128;
      to[2 * x + 1] = blocks::odd_column(own[x], own[x + 1]) - 128;
    }
  }
  const int64_t end = c.width;
  const auto one = [=](auto channel, uint8_t* __restrict to, const int32_t* __restrict b, const int32_t* __restrict r)
                       __attribute__((always_inline)) {
                         for (int64_t x = 0; x < end; ++x)
                           to[x] = blocks::byte_of(luma[x] + (channel() == 0   ? blocks::to_red(r[x])
                                                              : channel() == 1 ? blocks::to_green(b[x], r[x])
                                                                               : blocks::to_blue(b[x])));
                       };
  one([] { return 0; }, colors, wide, wide + width);
  one([] { return 1; }, colors + width, wide, wide + width);
  one([] { return 2; }, colors + 2 * width, wide, wide + width);
}
