// SPDX-License-Identifier: Apache-2.0
// Every element, less its result's mean, times its factor.
#pragma once
#include <cstdint>

#include "cuda/whole/kernels/arguments.h"
#include "launch/entry.h"
#include "pixel/stored.h"

namespace penstock::whole {

constexpr int kNormalizeGroup = 4;  // elements per thread: a unit of work

struct NormalizeRow {
  const void* in;
  void* out;
  double shift;
  NumbersRow mean, factor;
  int64_t elements, dims;
  struct Dim {
    int64_t extent, stride;  // of the results
  } dim[kMostDims];          // innermost first
};
static_assert(sizeof(NormalizeRow) == 88 + 16 * kMostDims);

// The results of consecutive elements. The innermost dimension is counted; the others are worked out where it is
// through.
template <class Index> class Results {
 public:
  PENSTOCK_HD explicit Results(const NormalizeRow& row)
      : row_(row),
        extent_(static_cast<Index>(row.dims > 0 ? row.dim[0].extent : row.elements)),
        stride_(static_cast<Index>(row.dims > 0 ? row.dim[0].stride : 0)) {}
  PENSTOCK_HD void begin(Index element) {
    rest_ = element / extent_;
    at_ = element - rest_ * extent_;
    base_ = outer();
  }
  PENSTOCK_HD Index next() {
    if (at_ == extent_) at_ = 0, ++rest_, base_ = outer();
    return base_ + at_++ * stride_;
  }

 private:
  PENSTOCK_HD Index outer() const {
    Index rest = rest_, result = 0;
    for (int d = 1; d < static_cast<int>(row_.dims); ++d) {
      const Index own = static_cast<Index>(row_.dim[d].extent);
      result += rest % own * static_cast<Index>(row_.dim[d].stride);
      rest /= own;
    }
    return result;
  }
  const NormalizeRow& row_;
  const Index extent_, stride_;
  Index rest_ = 0, at_ = 0, base_ = 0;
};

template <class In, class Out, class Index> PENSTOCK_KERNEL void normalize(const Entry<NormalizeRow>& e) {
  constexpr int kGroup = kNormalizeGroup;
  struct alignas(sizeof(In) * kGroup > 16 ? 16 : sizeof(In) * kGroup) Source {
    In v[kGroup];
  };
  struct alignas(sizeof(Out) * kGroup > 16 ? 16 : sizeof(Out) * kGroup) Target {
    Out v[kGroup];
  };
  const In* in = static_cast<const In*>(e.row.in);
  Out* out = static_cast<Out*>(e.row.out);
  const double shift = e.row.shift;
  const int64_t n = e.row.elements;
  const double *mean = first_of(e.row.mean, e), *factor = first_of(e.row.factor, e);
  const Index mean_step = static_cast<Index>(e.row.mean.step), factor_step = static_cast<Index>(e.row.factor.step);
  const bool aligned = ((reinterpret_cast<uint64_t>(in) & (alignof(Source) - 1)) |
                        (reinterpret_cast<uint64_t>(out) & (alignof(Target) - 1))) == 0;
  Results<Index> results(e.row);
  const auto next = [&](In v) {
    const Index r = results.next();
    return stored<Out>((static_cast<double>(v) - mean[r * mean_step]) * factor[r * factor_step] + shift);
  };
  for (int64_t i = e.begin + thread(); i < e.end; i += threads()) {
    const int64_t first = i * kGroup;
    results.begin(static_cast<Index>(first));
    if (aligned && first + kGroup <= n) {
      const Source x = *reinterpret_cast<const Source*>(in + first);
      Target y;
      PENSTOCK_UNROLL
      for (int q = 0; q < kGroup; ++q) y.v[q] = next(x.v[q]);
      *reinterpret_cast<Target*>(out + first) = y;
    } else {
      for (int q = 0; q < kGroup && first + q < n; ++q) out[first + q] = next(in[first + q]);
    }
  }
}

}  // namespace penstock::whole
