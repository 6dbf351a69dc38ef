// SPDX-License-Identifier: Apache-2.0
// Distances of edges from a center, included once per target by circle_votes.cpp.

// In parts of `step` from `least` on; -1: not between `least` and `most`.
inline void bins_of(const float* xs, const float* ys, float x, float y, float least, float most, float step,
                    float parts, int64_t n, int32_t* to) {
  const float least_square = least * least, most_square = most * most;
  for (int64_t k = 0; k < n; ++k) {
    const float dx = x - xs[k], dy = y - ys[k], square = dx * dx + dy * dy;
    const float bin = (__builtin_sqrtf(square) - least) / step * parts;
    const int32_t whole = static_cast<int32_t>(__builtin_rintf(bin));
    to[k] = square >= least_square && square <= most_square ? whole : -1;
  }
}
