// SPDX-License-Identifier: Apache-2.0
// Warps that turn by quarters or mirror, so that each output is one sample of the source: copies.
#include <cmath>

#include "batch/copy_boxes.h"
#include "cpu/stage_state.h"

namespace penstock {
namespace {

// Source axis a at output o (x, y, z) is at[a] + step[a] * o[of[a]].
struct Turned {
  int of[3] = {0, 1, 2};
  int64_t at[3] = {}, step[3] = {};
};

bool turned(const SampleGeometry& g, const LoopDim* const* out, Turned& t) {
  const AffineMap& map = *g.affine;
  bool taken[3] = {};
  for (int a = 0; a < map.dims; ++a) {
    const double* row = map.m + a * (map.dims + 1);
    int found = -1;
    for (int j = 0; j < map.dims; ++j) {
      if (row[j] == 0) continue;
      if (found >= 0 || std::fabs(row[j]) != 1) return false;
      found = j;
    }
    if (found < 0 || taken[found]) return false;
    const double at = 0.5 * row[found] + row[map.dims] - 0.5;
    if (!(std::fabs(at) < 0x1p30) || std::rint(at) != at) return false;
    taken[found] = true;
    const auto step = static_cast<int64_t>(row[found]);
    t.of[a] = found, t.step[a] = step * out[found]->step;
    t.at[a] = static_cast<int64_t>(at) + step * out[found]->start;
    const int64_t last = t.at[a] + t.step[a] * (out[found]->extent - 1);
    if (std::min(t.at[a], last) < 0 || std::max(t.at[a], last) >= g.source_extent[a]) return false;
  }
  return true;
}

}  // namespace

bool only_moves(const SampleRun& run) {
  const auto& st = run.stage;
  const auto changes = [](const Instruction& i) {
    return i.kind == Instruction::tile || i.kind == Instruction::convert;
  };
  return st.result == st.source && run.inputs[0].dtype == run.output.dtype && std::ranges::none_of(st.code, changes);
}

bool run_turned(const SampleRun& run) {
  const SampleGeometry& g = run.scratch.geometry;
  const auto& st = run.stage;
  const DType type = run.output.dtype;
  if (!only_moves(run)) return false;
  // A blend with a weight of 0 makes other numbers of infinities and of -0.
  if (g.affine->kind != FilterKind::nearest && (is_float(type) || size_of(type) > 2)) return false;
  const LoopDim* out[3] = {};
  const auto bytes = static_cast<int64_t>(size_of(type));
  FixedVector<CopyDim, kMostCopyDims> dims;
  for (const LoopDim& d : g.dims) {
    if (d.axis >= 0) {
      out[d.axis] = &d;
    } else if (d.lo != 0 || d.hi != d.extent || d.start != 0 || d.step != 1 || d.filter >= 0) {
      return false;
    } else {
      dims.push_back({d.extent, d.in_stride[0] * bytes, d.out_stride * bytes});
    }
  }
  Turned t;
  if (g.source_extent[0] * g.source_extent[1] * g.source_extent[2] == 0 || !turned(g, out, t)) return false;
  const char* in = static_cast<const char*>(run.inputs[0].data);
  for (int a = 0; a < g.affine->dims; ++a) {
    const LoopDim& to = *out[t.of[a]];
    const int64_t stride = out[a]->in_stride[0] * bytes;
    in += t.at[a] * stride;
    dims.push_back({to.extent, t.step[a] * stride, to.out_stride * bytes});
  }
  if (g.has_plane) {
    const LoopDim& p = g.plane;
    if (p.lo != 0 || p.hi != p.extent || p.start != 0 || p.step != 1 || p.filter >= 0) return false;
    dims.push_back({p.extent, p.in_stride[0] * bytes, p.out_stride * bytes});
  }
  copy_boxes(in, run.output.data, std::span(dims.begin(), dims.end()), bytes, st.target);
  return true;
}

}  // namespace penstock
