// SPDX-License-Identifier: Apache-2.0
// The sizes of gradients, included once per target by canny_edges.cpp.

inline void sizes(const int32_t* dx, const int32_t* dy, bool squared, int64_t n, int32_t* to) {
  if (squared) {
    for (int64_t i = 0; i < n; ++i) to[i] = dx[i] * dx[i] + dy[i] * dy[i];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = std::abs(dx[i]) + std::abs(dy[i]);
  }
}

// The marks of a row, by canny_mark().
inline void thin(const int32_t* dx, const int32_t* dy, const int32_t* size, const int32_t* above, const int32_t* below,
                 int32_t low, int32_t high, int64_t n, int32_t* marks) {
  for (int64_t i = 0; i < n; ++i) {
    // All are read, so that no read depends on another number.
    const GradientsAround g{size[i - 1],  size[i + 1],  above[i],     below[i],
                            above[i - 1], above[i + 1], below[i - 1], below[i + 1]};
    marks[i] = canny_mark(dx[i], dy[i], size[i], g, low, high);
  }
}
