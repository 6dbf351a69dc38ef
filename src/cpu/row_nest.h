// SPDX-License-Identifier: Apache-2.0
// The rows of a sample in memory, for stages whose map is at most an integer map.
#pragma once
#include <algorithm>

#include "cpu/stage_state.h"

namespace penstock {

// The loops of a sample: over the rows, along a row, over the planes.
struct Nest {
  explicit Nest(const SampleGeometry& g) : loops(g), outer(std::max(0, g.dims.size() - 1)) {
    if (!g.dims.empty()) row = g.dims.back();
    if (row.extent != 1) return;
    row.out_stride = 1;
    std::fill_n(row.in_stride, kMaxStageInputs, 1);
  }
  // The same loops, of a copy of their geometry.
  Nest(const Nest& of, const SampleGeometry& g) : loops(g), row(of.row), outer(of.outer), out_base(of.out_base) {
    std::copy(std::begin(of.in_base), std::end(of.in_base), in_base);
  }
  const SampleGeometry& loops;
  LoopDim row;
  int outer;  // dimensions of `loops` around the rows
  const char* in_base[kMaxStageInputs] = {};
  char* out_base = nullptr;
  int64_t rows_before = 0;  // of the sample, before this nest
  bool has_plane() const { return loops.has_plane; }
  const LoopDim& plane() const { return loops.plane; }

  // How many bands there may be: positions of the outermost loop, or tiles of the only row.
  int64_t bands(int64_t tile) const { return outer > 0 ? loops.dims[0].extent : (row.extent + tile - 1) / tile; }
  // Bands [from, to) alone. `loops` must be the caller's own.
  void cut(SampleGeometry& own, int64_t from, int64_t to, int64_t tile, const size_t* in_bytes, size_t out_bytes) {
    LoopDim& d = outer > 0 ? own.dims[0] : row;
    if (outer == 0) from *= tile, to = std::min(to * tile, row.extent);
    for (int k = 0; k < kMaxStageInputs; ++k) in_base[k] += from * d.in_stride[k] * static_cast<int64_t>(in_bytes[k]);
    out_base += from * d.out_stride * static_cast<int64_t>(out_bytes);
    d.extent = to - from;
    if (outer == 0) {
      if (!own.dims.empty()) own.dims.back().extent = d.extent;
      return;
    }
    rows_before = from;
    for (int i = 1; i < outer; ++i) rows_before *= own.dims[i].extent;
  }
};

template <class F>
void for_each_row(const Nest& nest, size_t in_bytes[4], size_t out_bytes, F&& f) {
  int64_t index[Shape::kMaxDims] = {};
  const char* in[kMaxStageInputs];
  std::copy(std::begin(nest.in_base), std::end(nest.in_base), in);
  char* out = nest.out_base;
  for (;;) {
    f(in, out);
    int d = nest.outer - 1;
    for (; d >= 0; --d) {
      const LoopDim& dim = nest.loops.dims[d];
      ++index[d];
      for (int k = 0; k < kMaxStageInputs; ++k) in[k] += dim.in_stride[k] * static_cast<int64_t>(in_bytes[k]);
      out += dim.out_stride * static_cast<int64_t>(out_bytes);
      if (index[d] < dim.extent) break;
      for (int k = 0; k < kMaxStageInputs; ++k)
        in[k] -= dim.in_stride[k] * dim.extent * static_cast<int64_t>(in_bytes[k]);
      out -= dim.out_stride * dim.extent * static_cast<int64_t>(out_bytes);
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace penstock
