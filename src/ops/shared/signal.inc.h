// SPDX-License-Identifier: Apache-2.0
// Included once for each processor target by signal.cpp.

// Products of rows with all columns of the input, in blocks whose sums stay in registers.
constexpr int64_t kLanes = PENSTOCK_TARGET_FLOATS ? PENSTOCK_TARGET_FLOATS : 4;
typedef float Lanes __attribute__((vector_size(kLanes * 4)));

// For `vectors` vectors of columns.
template <int rows, int vectors>
inline void multiply_block(const BandMatrix& m, int64_t r, const float* in, int64_t after, float* out) {
  Lanes sum[rows][vectors] = {};
  const float* const weights = &m.values[static_cast<size_t>(r * m.columns)];
  for (int64_t c = m.first[r]; c < m.last[r]; ++c) {
#pragma GCC unroll 8
    for (int k = 0; k < vectors; ++k) {
      Lanes v;
      std::memcpy(&v, in + c * after + k * kLanes, sizeof v);
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) sum[i][k] += weights[i * m.columns + c] * v;
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
    for (int k = 0; k < vectors; ++k) std::memcpy(out + (r + i) * after + k * kLanes, &sum[i][k], sizeof sum[i][k]);
}
template <int rows, int vectors>
void multiply_rows(const BandMatrix& m, int64_t r, const float* in, int64_t after, float* out) {
  int64_t x = 0;
  for (; x + vectors * kLanes <= after; x += vectors * kLanes)
    multiply_block<rows, vectors>(m, r, in + x, after, out + x);
  for (; x + kLanes <= after; x += kLanes) multiply_block<rows, 1>(m, r, in + x, after, out + x);
  for (int64_t i = r; i < r + rows; ++i)
    for (int64_t at = x; at < after; ++at) {
      float sum = 0;
      for (int64_t c = m.first[i]; c < m.last[i]; ++c) sum += m.values[i * m.columns + c] * in[c * after + at];
      out[i * after + at] = sum;
    }
}

void multiply(const BandMatrix& m, const float* in, int64_t after, float* out) {
  if (after == 1) {  // sums of products: in 16 parts, which vectorize, then in one
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
  // Rows side by side read the input once; those of a band matrix differ in their columns.
  constexpr int kTogether = PENSTOCK_TARGET_FLOATS == 16 ? 4 : 2;
  for (int64_t r = 0; r < m.rows;) {
    bool alike = r + kTogether <= m.rows;
    for (int k = 1; k < kTogether && alike; ++k) alike = m.first[r] == m.first[r + k] && m.last[r] == m.last[r + k];
    if (alike) multiply_rows<kTogether, 4>(m, r, in, after, out), r += kTogether;
    else multiply_rows<1, 8>(m, r, in, after, out), ++r;
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
