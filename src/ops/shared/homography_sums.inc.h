// SPDX-License-Identifier: Apache-2.0
// Included once per target by homography.cpp: sums over pairs of points, four at a time. Their order is the same on all
// targets.

typedef double Four __attribute__((vector_size(32)));

inline double joined(const Four& v) { return (v[0] + v[1]) + (v[2] + v[3]); }
// Four pairs; `counts` is 1, but 0 where there are no more pairs, which the last one stands for.
struct FourPairs {
  Four x, y, to_x, to_y, counts;
};
template <class Each> inline __attribute__((always_inline)) void each_four(const Pairs& pairs, Each each) {
  for (size_t k = 0; k < pairs.count; k += 4) {
    const size_t last = pairs.count - 1;
    const size_t at[4] = {k, std::min(k + 1, last), std::min(k + 2, last), std::min(k + 3, last)};
    FourPairs p;
    p.counts = Four{1.0, k + 1 <= last ? 1.0 : 0.0, k + 2 <= last ? 1.0 : 0.0, k + 3 <= last ? 1.0 : 0.0};
    p.x = Four{pairs.from[at[0]].x, pairs.from[at[1]].x, pairs.from[at[2]].x, pairs.from[at[3]].x};
    p.y = Four{pairs.from[at[0]].y, pairs.from[at[1]].y, pairs.from[at[2]].y, pairs.from[at[3]].y};
    p.to_x = Four{pairs.to[at[0]].x, pairs.to[at[1]].x, pairs.to[at[2]].x, pairs.to[at[3]].x};
    p.to_y = Four{pairs.to[at[0]].y, pairs.to[at[1]].y, pairs.to[at[2]].y, pairs.to[at[3]].y};
    each(p);
  }
}

// Of x, y, 1: the six products of two, alone, by -u, by -v, and by u u + v v.
inline void algebraic_sums(const Pairs& pairs, double (&sums)[4][6]) {
  Four sum[4][6] = {};
  each_four(pairs, [&](const FourPairs& p) __attribute__((always_inline)) {
    const Four x = p.x * p.counts, y = p.y * p.counts;
    const Four product[6] = {x * x, x * y, x, y * y, y, p.counts};
    const Four square = p.to_x * p.to_x + p.to_y * p.to_y;
    for (int i = 0; i < 6; ++i) {
      sum[0][i] += product[i];
      sum[1][i] -= product[i] * p.to_x;
      sum[2][i] -= product[i] * p.to_y;
      sum[3][i] += product[i] * square;
    }
  });
  for (int r = 0; r < 4; ++r)
    for (int i = 0; i < 6; ++i) sums[r][i] = joined(sum[r][i]);
}

// The same of a = x / w, b = y / w and c = 1 / w, where h maps (x, y) to (u, v), and what is left to the targets by a,
// b, c of u, of v, and -a, -b of both.
inline void geometric_sums(const Pairs& pairs, const double* h, double (&sums)[4][6], double (&left)[8]) {
  Four sum[4][6] = {}, rest[8] = {};
  each_four(pairs, [&](const FourPairs& p) __attribute__((always_inline)) {
    const Four inverse = 1.0 / (h[6] * p.x + h[7] * p.y + h[8]);
    const Four u = (h[0] * p.x + h[1] * p.y + h[2]) * inverse, v = (h[3] * p.x + h[4] * p.y + h[5]) * inverse;
    const Four c = inverse * p.counts, a = p.x * c, b = p.y * c;
    const Four product[6] = {a * a, a * b, a * c, b * b, b * c, c * c};
    const Four square = u * u + v * v, by_u = p.to_x - u, by_v = p.to_y - v, both = u * by_u + v * by_v;
    for (int i = 0; i < 6; ++i) {
      sum[0][i] += product[i];
      sum[1][i] -= product[i] * u;
      sum[2][i] -= product[i] * v;
      sum[3][i] += product[i] * square;
    }
    rest[0] += a * by_u, rest[1] += b * by_u, rest[2] += c * by_u;
    rest[3] += a * by_v, rest[4] += b * by_v, rest[5] += c * by_v;
    rest[6] -= a * both, rest[7] -= b * both;
  });
  for (int r = 0; r < 4; ++r)
    for (int i = 0; i < 6; ++i) sums[r][i] = joined(sum[r][i]);
  for (int i = 0; i < 8; ++i) left[i] = joined(rest[i]);
}

inline double squared_error(const Pairs& pairs, const double* h) {
  Four sum = {};
  each_four(pairs, [&](const FourPairs& p) __attribute__((always_inline)) {
    const Four w = h[6] * p.x + h[7] * p.y + h[8];
    const Four u = (h[0] * p.x + h[1] * p.y + h[2]) / w - p.to_x, v = (h[3] * p.x + h[4] * p.y + h[5]) / w - p.to_y;
    sum += (u * u + v * v) * p.counts;
  });
  return joined(sum);
}

// Of each pair, from where h maps it to where it should be.
inline void squared_distances(const Pairs& pairs, const double* h, double* apart) {
  size_t k = 0;
  each_four(pairs, [&](const FourPairs& p) __attribute__((always_inline)) {
    const Four w = h[6] * p.x + h[7] * p.y + h[8];
    const Four u = (h[0] * p.x + h[1] * p.y + h[2]) / w - p.to_x, v = (h[3] * p.x + h[4] * p.y + h[5]) / w - p.to_y;
    const Four square = u * u + v * v;
    for (size_t i = 0; i < 4 && k < pairs.count; ++i, ++k)
      apart[k] = square[i] <= std::numeric_limits<double>::max() ? square[i] : std::numeric_limits<double>::infinity();
  });
}

inline double sum_of_distances(const PlanePoint* points, size_t n, double x, double y) {
  Four sum = {};
  each_four({points, points, n}, [&](const FourPairs& p) __attribute__((always_inline)) {
    const Four dx = p.x - x, dy = p.y - y, square = dx * dx + dy * dy;
    for (int i = 0; i < 4; ++i) sum[i] += std::sqrt(square[i]) * p.counts[i];
  });
  return joined(sum);
}
