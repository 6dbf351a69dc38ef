// SPDX-License-Identifier: Apache-2.0
// Included once for each processor target by signal.cpp.

void multiply(const BandMatrix& m, const float* in, int64_t behind, float* out) {
  if (behind == 1) {  // sums of products: in 16 parts, which vectorize, then in one
    for (int64_t r = 0; r < m.rows; ++r) {
      const float* row = &m.values[r * m.columns];
      float part[16] = {};
      int64_t c = m.first[r];
      for (; c + 16 <= m.last[r]; c += 16)
        for (int i = 0; i < 16; ++i) part[i] += row[c + i] * in[c + i];
      float sum = 0;
      for (const float p : part) sum += p;
      for (; c < m.last[r]; ++c) sum += row[c] * in[c];
      out[r] = sum;
    }
    return;
  }
  constexpr int64_t kBlock = 128;
  for (int64_t x = 0; x < behind; x += kBlock) {
    const int64_t n = std::min(kBlock, behind - x);
    for (int64_t r = 0; r < m.rows; ++r) {
      float sum[kBlock] = {};
      for (int64_t c = m.first[r]; c < m.last[r]; ++c) {
        const float w = m.values[r * m.columns + c];
        const float* from = in + c * behind + x;
        if (n == kBlock)
          for (int64_t i = 0; i < kBlock; ++i) sum[i] += w * from[i];
        else
          for (int64_t i = 0; i < n; ++i) sum[i] += w * from[i];
      }
      std::copy_n(sum, n, out + r * behind + x);
    }
  }
}

// multiplier * log10(max(least, in / reference))
void decibels(const float* in, int64_t n, float reference, float least, float multiplier, float* out) {
  const float inverse = 1 / reference;
  for (int64_t i = 0; i < n; ++i) {
    const float ratio = in[i] * inverse;
    out[i] = multiplier * f32::log10(ratio > least ? ratio : least);
  }
}
