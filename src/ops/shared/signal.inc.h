// SPDX-License-Identifier: Apache-2.0
// Included once for each processor target by signal.cpp.

// Products of rows with all columns of the input, in blocks whose sums stay in registers. `fused`: by multiply-adds.
constexpr int64_t kLanes = PENSTOCK_TARGET_FLOATS ? PENSTOCK_TARGET_FLOATS : 4;
typedef float Lanes __attribute__((vector_size(kLanes * 4)));

#if PENSTOCK_TARGET_FLOATS == 16
inline Lanes fused_sum(float weight, Lanes v, Lanes sum) { return _mm512_fmadd_ps(_mm512_set1_ps(weight), v, sum); }
#elif PENSTOCK_TARGET_FLOATS
inline Lanes fused_sum(float weight, Lanes v, Lanes sum) { return _mm256_fmadd_ps(_mm256_set1_ps(weight), v, sum); }
#else
inline Lanes fused_sum(float weight, Lanes v, Lanes sum) {
  for (int i = 0; i < kLanes; ++i) sum[i] = fma(weight, v[i], sum[i]);
  return sum;
}
#endif

// For `vectors` vectors of columns.
template <int rows, int vectors, bool fused>
inline void multiply_block(const BandMatrix& m, int64_t r, const float* in, int64_t after, float* out) {
  Lanes sum[rows][vectors] = {};
  const float* const weights = &m.values[static_cast<size_t>(r * m.columns)];
  for (int64_t c = m.first[r]; c < m.last[r]; ++c) {
    Lanes v[vectors];  // one weight at a time: all of them would not fit into the registers beside the sums
#pragma GCC unroll 8
    for (int k = 0; k < vectors; ++k) std::memcpy(&v[k], in + c * after + k * kLanes, sizeof v[k]);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const float weight = weights[i * m.columns + c];
#pragma GCC unroll 8
      for (int k = 0; k < vectors; ++k) {
        if constexpr (fused) sum[i][k] = fused_sum(weight, v[k], sum[i][k]);
        else sum[i][k] += weight * v[k];
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
    for (int k = 0; k < vectors; ++k) std::memcpy(out + (r + i) * after + k * kLanes, &sum[i][k], sizeof sum[i][k]);
}
template <int rows, int vectors>
void multiply_rows(const BandMatrix& m, int64_t r, const float* in, int64_t after, float* out) {
  int64_t x = 0;
  for (; x + vectors * kLanes <= after; x += vectors * kLanes)
    multiply_block<rows, vectors, false>(m, r, in + x, after, out + x);
  for (; x + kLanes <= after; x += kLanes) multiply_block<rows, 1, false>(m, r, in + x, after, out + x);
  for (int64_t i = r; i < r + rows; ++i)
    for (int64_t at = x; at < after; ++at) {
      float sum = 0;
      for (int64_t c = m.first[i]; c < m.last[i]; ++c) sum += m.values[i * m.columns + c] * in[c * after + at];
      out[i * after + at] = sum;
    }
}

// The rest of columns [x, after), with fused multiply-adds.
void fused_rest(const BandMatrix& m, const float* in, int64_t after, int64_t x, float* out) {
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t at = x; at < after; ++at) {
      float sum = 0;
      for (int64_t c = m.first[i]; c < m.last[i]; ++c) sum = fma(m.values[i * m.columns + c], in[c * after + at], sum);
      out[i * after + at] = sum;
    }
}
// A few vectors of columns by all rows: the columns stay in cache. Rows of other extents go one by one.
template <int rows, int vectors>
void fused_columns(const BandMatrix& m, const float* in, int64_t after, float* out) {
  for (int64_t r = 0; r < m.rows;) {
    bool alike = r + rows <= m.rows;
    for (int k = 1; k < rows && alike; ++k) alike = m.first[r] == m.first[r + k] && m.last[r] == m.last[r + k];
    if (alike) multiply_block<rows, vectors, true>(m, r, in, after, out), r += rows;
    else multiply_block<1, vectors, true>(m, r, in, after, out), ++r;
  }
}
void fused_multiply(const BandMatrix& m, const float* in, int64_t after, float* out) {
  constexpr int kRows = 4, kVectors = PENSTOCK_TARGET_FLOATS == 16 ? 6 : 3;  // as many sums as registers hold
  int64_t x = 0;
  for (; x + kVectors * kLanes <= after; x += kVectors * kLanes)
    fused_columns<kRows, kVectors>(m, in + x, after, out + x);
  for (; x + 2 * kLanes <= after; x += 2 * kLanes) fused_columns<kRows, 2>(m, in + x, after, out + x);
  if (x < after && after >= kLanes) {  // the last columns, some of them again
    const int64_t last = after - kLanes;
    if (x < last) fused_columns<kRows, 1>(m, in + x, after, out + x);
    fused_columns<kRows, 1>(m, in + last, after, out + last);
    x = after;
  }
  fused_rest(m, in, after, x, out);
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
  if (m.fused) return fused_multiply(m, in, after, out);
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
