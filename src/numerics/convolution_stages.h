// SPDX-License-Identifier: Apache-2.0
// The fast convolution of a part of a signal with a response, as the threads of a team compute it. The host has loops
// over vectors of its own (convolution.inc.h) that give the same bits: each butterfly is the same, at the same place.
//
// The transform works in place: radix 4, decimation in frequency, and radix 2 first where the size is not a power of 4.
// The spectrum is left in the order in which its numbers are found; the inverse transform takes it so. Factors of the
// stages follow each other: for each k = 1 .. radix - 1 the real parts, then the imaginary ones.
#pragma once
#include <cstdint>

#include "pixel/host_device.h"
#include "pixel/math.h"

namespace penstock::convolution {

#include "numerics/butterflies.inc.h"

struct Pair {
  float re, im;
};
// A complex signal of `size` elements.
struct Planes {
  float* re;
  float* im;
};

PENSTOCK_HD inline int64_t first_radix(int64_t size) {
  int64_t n = size;
  while (n > 2) n /= 4;
  return n == 2 ? 2 : 4;
}

// Butterfly i of a stage over groups of n elements. The inverse works on exchanged parts: that conjugates the factors.
template <int radix, bool inverse>
PENSTOCK_HD void butterfly(Planes z, int64_t i, int64_t n, const float* factors) {
  const int64_t m = n / radix, j = i % m, at = (i - j) * radix + j;
  Pair x[radix];
  Pair y[radix];
  for (int k = 0; k < radix; ++k) {
    const Pair v{z.re[at + m * k], z.im[at + m * k]};
    x[k] = inverse ? Pair{v.im, v.re} : v;
    const float* w = factors + 2 * m * (k - 1) + j;
    if (inverse && k > 0 && m > 1) x[k] = Butterflies::times(x[k], w[0], w[m]);
  }
  if constexpr (radix == 2) Butterflies::two(x, y);
  else Butterflies::four(x, y);
  for (int k = 0; k < radix; ++k) {
    const float* w = factors + 2 * m * (k - 1) + j;
    if (!inverse && k > 0 && m > 1) y[k] = Butterflies::times(y[k], w[0], w[m]);
    z.re[at + m * k] = inverse ? y[k].im : y[k].re;
    z.im[at + m * k] = inverse ? y[k].re : y[k].im;
  }
}

template <class Team> PENSTOCK_HD void transform(Planes z, int64_t size, const float* factors, const Team& team) {
  int64_t n = size;
  if (first_radix(size) == 2) {
    for (int64_t i = team.index; i < size / 2; i += team.count) butterfly<2, false>(z, i, n, factors);
    team.sync();
    factors += n, n /= 2;
  }
  for (; n > 1; factors += 6 * (n / 4), n /= 4) {
    for (int64_t i = team.index; i < size / 4; i += team.count) butterfly<4, false>(z, i, n, factors);
    team.sync();
  }
}

template <class Team>
PENSTOCK_HD void transform_back(Planes z, int64_t size, const float* factors, const Team& team) {
  const bool two = first_radix(size) == 2;
  const int64_t most = two ? size / 2 : size;
  for (int64_t n = 4; n <= most; n *= 4) {
    // The factors of all stages before this one: those over `most`, most / 4, ... elements.
    const float* own = factors + (two ? size : 0) + 2 * (most - n);
    for (int64_t i = team.index; i < size / 4; i += team.count) butterfly<4, true>(z, i, n, own);
    team.sync();
  }
  if (!two) return;
  for (int64_t i = team.index; i < size / 2; i += team.count) butterfly<2, true>(z, i, size, factors);
  team.sync();
}

// What is convolved: two parts of a signal at a time, as the real and the imaginary part of one.
struct Signal {
  const float* first;  // of the channel
  int64_t stride, length;
  PENSTOCK_HD float operator[](int64_t i) const { return i >= 0 && i < length ? first[i * stride] : 0.0f; }
};
// Where a pair of parts begins in the whole convolution, and how many results each gives.
struct Parts {
  int64_t begin, step;
};

// What a response is multiplied by.
enum ResponseScale : int64_t { kAsGiven, kPeakOfOne, kEnergyOfOne };
constexpr int kScaleParts = 256;

// `parts`: memory of the team for kScaleParts numbers.
template <class Team>
PENSTOCK_HD float response_scale(const float* response, int64_t count, int64_t kind, double* parts, const Team& team) {
  if (kind == kAsGiven) return 1.0f;
  for (int p = team.index; p < kScaleParts; p += team.count) {
    double found = 0;
    for (int64_t k = p; k < count; k += kScaleParts) {
      const double v = static_cast<double>(response[k]);
      found = kind == kPeakOfOne ? max(found, abs(v)) : found + v * v;
    }
    parts[p] = found;
  }
  team.sync();
  double all = 0;
  for (int p = 0; p < kScaleParts; ++p) all = kind == kPeakOfOne ? max(all, parts[p]) : all + parts[p];
  team.sync();
  if (kind == kEnergyOfOne) all = sqrt(all);
  return all > 0 ? static_cast<float>(1.0 / all) : 1.0f;
}

// The spectrum of a response, which is multiplied by `scale` and by the share of each element in the inverse.
template <class Team>
PENSTOCK_HD void response_spectrum(Signal response, float scale, Planes to, int64_t size, const float* factors,
                                   const Team& team) {
  const float share = 1.0f / static_cast<float>(size);
  for (int64_t i = team.index; i < size; i += team.count) {
    to.re[i] = response[i] * scale * share;
    to.im[i] = 0;
  }
  team.sync();
  transform(to, size, factors, team);
}

template <class Team>
PENSTOCK_HD void convolve_parts(Signal in, Parts parts, int64_t taps, Planes spectrum, Planes z, int64_t size,
                                const float* factors, const Team& team) {
  const int64_t first = parts.begin - (taps - 1), second = first + parts.step;
  for (int64_t i = team.index; i < size; i += team.count) {
    z.re[i] = in[first + i];
    z.im[i] = in[second + i];
  }
  team.sync();
  transform(z, size, factors, team);
  for (int64_t i = team.index; i < size; i += team.count) {
    const Pair v = Butterflies::times(Pair{z.re[i], z.im[i]}, spectrum.re[i], spectrum.im[i]);
    z.re[i] = v.re;
    z.im[i] = v.im;
  }
  team.sync();
  transform_back(z, size, factors, team);
}

}  // namespace penstock::convolution
