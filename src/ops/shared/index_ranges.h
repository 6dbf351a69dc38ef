// SPDX-License-Identifier: Apache-2.0
// Indices as in NumPy's x[i, a:b:s, ...]: shared by reading and assigning elements.
#pragma once
#include <algorithm>

#include "operator/operator.h"
#include "operator/sample_work.h"

namespace penstock {

struct IndexRanges : WholeOperator {
  using List = std::array<PerSample<int>, Shape::kMaxDims>;
  List at, lo, hi, step;

  template <class Op> static Schema<Op>&& arguments(Schema<Op>&& s) {
    return std::move(s)
        .args("at_", static_cast<List Op::*>(&Op::at),
              "An index, which drops its dimension; negative numbers count from the end.")
        .args("lo_", static_cast<List Op::*>(&Op::lo), "First index of a range.")
        .args("hi_", static_cast<List Op::*>(&Op::hi), "End of a range, exclusive.")
        .args("step_", static_cast<List Op::*>(&Op::step), "Step of a range; not 0.");
  }
  void ready() override {
    for (int d = 0; d < Shape::kMaxDims; ++d)
      if (at[d].given() && (lo[d].given() || hi[d].given() || step[d].given()))
        bad_argument("dimension {} has both an index and a range", d);
  }
  void check_dimensions(int ndim) const {
    for (int d = ndim; d < Shape::kMaxDims; ++d)
      if (at[d].given() || lo[d].given() || hi[d].given() || step[d].given())
        bad_argument("too many indices: dimension {} of {} dimensions", d, ndim);
  }
  // The part that the indices select; the dtype and layout stay those of `of`.
  View picked(int sample, const View& of) const {
    View v = of;
    v.shape = v.strides = {};
    int64_t offset = 0;
    for (int d = 0; d < of.shape.size(); ++d) {
      const int64_t n = of.shape[d], stride = of.strides[d];
      if (at[d].given()) {
        const int64_t i = at[d][sample];
        if (i < -n || i >= n) bad_argument("index {} is out of bounds for dimension {} with {} elements", i, d, n);
        offset += (i < 0 ? i + n : i) * stride;
      } else {
        const Run r = range(sample, d, n);
        if (r.count > 0) offset += r.first * stride;
        v.shape.push_back(r.count);
        v.strides.push_back(stride * r.step);
      }
    }
    v.data = of.as<char>() + offset * static_cast<int64_t>(size_of(v.dtype));
    return v;
  }

  struct Run {
    int64_t first, step, count;
  };
  // The elements of a[lo:hi:step] of n, by Python's rules.
  Run range(int sample, int d, int64_t n) const {
    const int64_t by = step[d].given() ? step[d][sample] : 1;
    if (by == 0) bad_argument("the step of dimension {} must not be 0", d);
    const int64_t low = by > 0 ? 0 : -1, high = by > 0 ? n : n - 1;
    auto bound = [&](const PerSample<int>& p, int64_t open) {
      if (!p.given()) return open;
      const int64_t v = p[sample];
      return std::clamp<int64_t>(v < 0 ? v + n : v, low, high);
    };
    const int64_t a = bound(lo[d], by > 0 ? low : high), b = bound(hi[d], by > 0 ? high : low);
    const int64_t span = by > 0 ? b - a : a - b, size = by > 0 ? by : -by;
    return {a, by, span > 0 ? (span + size - 1) / size : 0};
  }
};

}  // namespace penstock
