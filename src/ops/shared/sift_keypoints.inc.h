// SPDX-License-Identifier: Apache-2.0
// Where differences are extreme, and gradients; included once per target by sift_keypoints.cpp.

// A vector is as wide as a register: GCC keeps wider ones in memory, element by element.
constexpr int64_t kWide = PENSTOCK_TARGET_FLOATS ? PENSTOCK_TARGET_FLOATS : 4;
using Lanes = float __attribute__((vector_size(kWide * sizeof(float))));

// Of nine rows: the largest and the least number of each column. The compiler does not see that no row overlaps
// another one, so vectors are written out.
template <class V> PENSTOCK_INLINE void extremes_at(const float* const* rows, int64_t x, float* most, float* least) {
  V high, low, v;
  std::memcpy(&high, rows[0] + x, sizeof high);
  low = high;
  for (int r = 1; r < 9; ++r) {
    std::memcpy(&v, rows[r] + x, sizeof v);
    high = high < v ? v : high;
    low = v < low ? v : low;
  }
  std::memcpy(most + x, &high, sizeof high);
  std::memcpy(least + x, &low, sizeof low);
}
inline void extremes_down(const float* const* rows, int64_t width, float* most, float* least) {
  int64_t x = 0;
  for (; x + kWide <= width; x += kWide) extremes_at<Lanes>(rows, x, most, least);
  for (; x < width; ++x) extremes_at<float>(rows, x, most, least);
}
// 1 where a number is beyond the threshold and the largest or least one around it. The first and last are not read.
inline void mark_extremes(const float* __restrict row, const float* __restrict most, const float* __restrict least,
                          float threshold, int64_t width, uint8_t* __restrict marks) {
  for (int64_t x = 1; x < width - 1; ++x) {
    const float v = row[x];
    float high = most[x - 1] < most[x + 1] ? most[x + 1] : most[x - 1];
    float low = least[x + 1] < least[x - 1] ? least[x + 1] : least[x - 1];
    high = high < most[x] ? most[x] : high;
    low = least[x] < low ? least[x] : low;
    const bool top = (v > threshold) & (v >= high), bottom = (v < -threshold) & (v <= low);
    marks[x] = top | bottom;
  }
}
inline void gradients(const float* __restrict above, const float* __restrict row, const float* __restrict below,
                      int64_t n, float* __restrict magnitudes, float* __restrict angles) {
  for (int64_t x = 0; x < n; ++x) {
    const Gradient g = gradient_of(row[x + 1] - row[x - 1], above[x] - below[x]);
    magnitudes[x] = g.magnitude;
    angles[x] = g.angle;
  }
}
