// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/machine/operator.h"

namespace penstock {

struct Subscript {
  std::array<PerSample<int>, Shape::kMaxDims> at, lo, hi, step;

  static Schema<Subscript> schema() {
    return Schema<Subscript>("_subscript",
                             "Indexing as NumPy's x[i, a:b:s, ...]: DataNode's square brackets.\n\nDimensions "
                             "indexed by an integer are dropped, their layout letters too. Types: all.")
        .args("at_", &Subscript::at, "Index of a dimension, which is dropped; negative numbers count from the end.")
        .args("lo_", &Subscript::lo, "First index of a range.")
        .args("hi_", &Subscript::hi, "End of a range, exclusive.")
        .args("step_", &Subscript::step, "Step of a range; not 0.")
        .hidden()
        .oracle("numpy");
  }
  void ready() {
    for (int d = 0; d < Shape::kMaxDims; ++d)
      if (at[d].given() && (lo[d].given() || hi[d].given() || step[d].given()))
        bad_argument("dimension {} has both an index and a range", d);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const {
    out[0] = in[0];
    if (in[0].ndim < 0) return;
    for (int d = in[0].ndim; d < Shape::kMaxDims; ++d)
      if (at[d].given() || lo[d].given() || hi[d].given() || step[d].given())
        bad_argument("too many indices: dimension {} of {} dimensions", d, in[0].ndim);
    std::string letters;
    for (int d = 0; d < in[0].ndim; ++d) {
      if (at[d].given()) --out[0].ndim;
      else if (d < in[0].layout.size()) letters += in[0].layout[d];
    }
    out[0].layout = letters;
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const {
    Shape shape;
    for (int d = 0; d < in[0].size(); ++d)
      if (!at[d].given()) shape.push_back(in[0][d] < 0 ? -1 : range(s.index, d, in[0][d]).count);
    out[0] = shape;
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out, SampleWork& to) const {
    View v = in[0];
    v.shape = v.strides = {};
    int64_t offset = 0;
    for (int d = 0; d < in[0].shape.size(); ++d) {
      const int64_t n = in[0].shape[d], stride = in[0].strides[d];
      if (at[d].given()) {
        const int64_t i = at[d][s.index];
        if (i < -n || i >= n) bad_argument("index {} is out of bounds for dimension {} with {} elements", i, d, n);
        offset += (i < 0 ? i + n : i) * stride;
      } else {
        const Run r = range(s.index, d, n);
        if (r.count > 0) offset += r.first * stride;
        v.shape.push_back(r.count);
        v.strides.push_back(stride * r.step);
      }
    }
    v.data = in[0].as<char>() + offset * static_cast<int64_t>(size_of(v.dtype));
    to.copy(v, out[0]);
  }

 private:
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
PENSTOCK_OPERATOR(Subscript);

}  // namespace penstock
