// SPDX-License-Identifier: Apache-2.0
// Mean powers of a signal under a sliding window, in independent chunks: in turn on the host, in parallel in a kernel.
#pragma once
#include <cstdint>

#include "pixel/host_device.h"

namespace penstock {

struct Loudness {
  struct Chunk {
    double top;           // the largest mean
    int64_t first, last;  // the first and the last sample with `least` or more, or -1
  };
  // At least half a window: a chunk starts with the sum of one.
  PENSTOCK_HD static int64_t chunk_length(int64_t window) { return window > 2048 ? window / 2 : 1024; }
  template <class T> PENSTOCK_HD static double power(const T* x, int64_t i) {
    const double v = static_cast<double>(x[i]);
    return v * v;
  }
  template <class T> PENSTOCK_HD static double sum_of(const T* x, int64_t begin, int64_t end) {
    double part[8] = {};
    int64_t i = begin;
    for (; i + 8 <= end; i += 8)
      for (int k = 0; k < 8; ++k) part[k] += power(x, i + k);
    double sum = 0;
    for (int k = 0; k < 8; ++k) sum += part[k];
    for (; i < end; ++i) sum += power(x, i);
    return sum;
  }
  template <class T>
  PENSTOCK_HD static Chunk chunk(const T* x, int64_t n, int64_t window, int64_t number, double least) {
    const int64_t begin = number * chunk_length(window),
                  end = begin + chunk_length(window) < n ? begin + chunk_length(window) : n;
    double sum = sum_of(x, begin > window ? begin - window : 0, begin);
    Chunk c{0, -1, -1};
    for (int64_t i = begin; i < end; ++i) {
      sum += power(x, i) - (i >= window ? power(x, i - window) : 0.0);
      const double mean = sum > 0 ? sum / static_cast<double>(window) : 0.0;
      if (mean > c.top) c.top = mean;
      if (mean >= least) c.last = i;
      if (mean >= least && c.first < 0) c.first = i;
    }
    return c;
  }
  PENSTOCK_HD static int64_t begin_of(int64_t first, int64_t window) {
    return first + 1 > window ? first + 1 - window : 0;
  }
};

// The part with sound: mean powers of at least `ratio` times the reference; 0: the largest of the signal.
struct HeardRule {
  double reference, ratio;
  int64_t window;
};

}  // namespace penstock
