// SPDX-License-Identifier: Apache-2.0
// Included once per target by segments.cpp. The compiler vectorizes the loop.

// Which of `n` pixels of a row, from the column `begin` on, a segment covers. Writes as many more as complete a vector.
// Numbers as wide as those that are compared: narrower ones make vectors of more pixels than most segments have.
inline void cover_row(const double* segment, double shift, double y, int64_t begin, int64_t n, int64_t* to) {
  double s[6];
  for (int k = 0; k < 6; ++k) s[k] = segment[k];
  const auto first = static_cast<double>(begin);
  const auto count = static_cast<int32_t>((n + kCovered - 1) / kCovered * kCovered);
  for (int32_t i = 0; i < count; ++i) to[i] = SegmentRule::covers(s, first + i + shift, y);
}
// Pixels of `inner` elements, of which each has its color.
template <int inner> inline void blend_pixels(float* __restrict v, int64_t n, const float* color, float opacity) {
  float c[inner];
  for (int k = 0; k < inner; ++k) c[k] = color[k];
  for (int64_t i = 0; i < n; ++i)
    for (int k = 0; k < inner; ++k) v[i * inner + k] = SegmentRule::blended(v[i * inner + k], c[k], opacity);
}
inline void blend_run(float* v, int64_t n, int64_t inner, const float* color, float opacity) {
  if (inner == 1) return blend_pixels<1>(v, n, color, opacity);
  if (inner == 3) return blend_pixels<3>(v, n, color, opacity);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < inner; ++k) v[i * inner + k] = SegmentRule::blended(v[i * inner + k], color[k], opacity);
}
