// SPDX-License-Identifier: Apache-2.0
// Distances of lines from the origin, included once per target by edge_votes.cpp.

// For lines through points at one angle.
inline void distances_of(const float* xs, const float* ys, float cosine, float sine, int32_t middle, int64_t n,
                         int32_t* to) {
  for (int64_t k = 0; k < n; ++k) to[k] = static_cast<int32_t>(__builtin_rintf(xs[k] * cosine + ys[k] * sine)) + middle;
}
// For lines through one point at all angles.
inline void distances_at(float x, float y, const float* cosines, const float* sines, int32_t middle, int64_t n,
                         int32_t* to) {
  for (int64_t k = 0; k < n; ++k) to[k] = static_cast<int32_t>(__builtin_rintf(x * cosines[k] + y * sines[k])) + middle;
}
