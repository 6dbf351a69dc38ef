// SPDX-License-Identifier: Apache-2.0
// The axes of a stage that filters: what their outputs read, as tables of taps, and the loops over other dimensions.
#pragma once
#include <algorithm>
#include <functional>
#include <vector>

#include "cpu/stage_state.h"

namespace penstock {

struct FilterAxis {
  int dim = -1;  // of the geometry's, -1: absent
  int64_t count = 1, lo = 0;
  const TapTable* taps = nullptr;
  int64_t start = 0, step = 1;  // position i is source sample start + step * i (less the origin)
  int64_t stride = 0, out_stride = 0;
  bool plain = true;  // every output reads one sample
  int64_t source(int64_t position) const { return start + step * position; }
};

// The dimensions that are filtered, innermost first, then the innermost of the others, where rows are long. Further
// dimensions, and the channels, may only select single samples.
struct FilterDims {
  int dim[3] = {-1, -1, -1};
  explicit FilterDims(const SampleGeometry& g) {
    int n = 0;
    bool taken[Shape::kMaxDims] = {};
    const auto take = [&](bool picks) {
      for (int d = g.dims.size() - 1; d >= 0 && n < 3; --d)
        if (g.dims[d].filter >= 0 && g.filters[g.dims[d].filter].picks() == picks) dim[n++] = d, taken[d] = true;
    };
    take(false), take(true);
    for (int d = g.dims.size() - 1; d >= 0 && n < 3; --d)
      if (!taken[d]) {
        dim[n++] = d;
        break;
      }
    std::sort(dim, dim + n, std::greater<>());
  }
};

// Dimension `dim` of the geometry, whose table is in slot `slot` of the scratch. dim -1: an axis of one sample.
FilterAxis make_axis(SampleRun& run, int dim, int slot);
// Source positions of the outputs of a dimension that selects single samples (a window that reflects or wraps at the
// borders).
std::vector<int32_t> gathered(const SampleGeometry& g, const LoopDim& d, int64_t origin);

// Loops over all dimensions except depth, height, width and channels; f(in, out) gets the base pointers.
template <class F>
void for_each_outer(const SampleRun& run, const FilterAxis& z, const FilterAxis& y, const FilterAxis& x, F&& f) {
  const SampleGeometry& g = run.scratch.geometry;
  const auto in_bytes = static_cast<int64_t>(size_of(run.inputs[0].dtype));
  const auto out_bytes = static_cast<int64_t>(size_of(run.output.dtype));
  std::vector<int> outer;
  const char* in = static_cast<const char*>(run.inputs[0].data);
  char* out = static_cast<char*>(run.output.data);
  std::vector<int32_t> index[Shape::kMaxDims];
  const auto begin = [&](const LoopDim& d, int64_t origin) {
    if (d.filter < 0) in += (d.start + d.step * d.lo - origin) * d.sample_stride() * in_bytes;
    out += d.lo * d.out_stride * out_bytes;
  };
  int64_t total = 1;
  for (int d = 0; d < g.dims.size(); ++d) {
    if (d == z.dim || d == y.dim || d == x.dim) continue;
    const LoopDim& dim = g.dims[d];
    begin(dim, run.origin[d]);
    if (dim.filter >= 0) index[d] = gathered(g, dim, run.origin[d]);
    outer.push_back(d), total *= dim.hi - dim.lo;
  }
  if (g.has_plane) begin(g.plane, 0);
  for (int64_t i = 0; i < total; ++i) {
    const char* a = in;
    char* b = out;
    int64_t rest = i;
    for (auto it = outer.rbegin(); it != outer.rend(); ++it) {
      const LoopDim& d = g.dims[*it];
      const int64_t extent = d.hi - d.lo, at = rest % extent;
      rest /= extent;
      a += (index[*it].empty() ? at : index[*it][at]) * d.in_stride[0] * in_bytes;
      b += at * d.out_stride * out_bytes;
    }
    f(a, b);
  }
}

}  // namespace penstock
