// SPDX-License-Identifier: Apache-2.0
// Stages that select single samples and change nothing else.
#include <cstring>

#include "cpu/stage_state.h"

namespace penstock {
namespace {

struct Picks {
  std::vector<int64_t> from;  // offset in the input of each output, in bytes
  int64_t to = 0;             // step of the output, in bytes
};

// Copies `bytes` from each place of the row to contiguous places; contiguous runs of the input are copied at once.
template <int kBytes>
void pick_row(const char* in, char* out, const std::vector<int64_t>& from, int64_t bytes) {
  const int64_t step = kBytes ? kBytes : bytes;
  const auto n = static_cast<int64_t>(from.size());
  for (int64_t i = 0; i < n;) {
    int64_t end = i + 1;
    while (end < n && from[end] == from[end - 1] + step) ++end;
    if (end - i > 3) std::memcpy(out + i * step, in + from[i], static_cast<size_t>((end - i) * step));
    else
      for (int64_t k = i; k < end; ++k)
        std::memcpy(out + k * step, in + from[k], static_cast<size_t>(kBytes ? kBytes : bytes));
    i = end;
  }
}

void pick_dims(const char* in, char* out, const std::vector<Picks>& dims, size_t d, int64_t bytes) {
  if (d + 1 < dims.size()) {
    for (size_t i = 0; i < dims[d].from.size(); ++i)
      pick_dims(in + dims[d].from[i], out + static_cast<int64_t>(i) * dims[d].to, dims, d + 1, bytes);
    return;
  }
  const auto& last = dims.back();
  if (last.to != bytes) {
    for (size_t i = 0; i < last.from.size(); ++i)
      std::memcpy(out + static_cast<int64_t>(i) * last.to, in + last.from[i], static_cast<size_t>(bytes));
    return;
  }
  switch (bytes) {
    case 1: return pick_row<1>(in, out, last.from, bytes);
    case 2: return pick_row<2>(in, out, last.from, bytes);
    case 3: return pick_row<3>(in, out, last.from, bytes);
    case 4: return pick_row<4>(in, out, last.from, bytes);
    case 8: return pick_row<8>(in, out, last.from, bytes);
    case 12: return pick_row<12>(in, out, last.from, bytes);
    case 16: return pick_row<16>(in, out, last.from, bytes);
    default: return pick_row<0>(in, out, last.from, bytes);
  }
}

Picks picks_of(const SampleGeometry& g, const LoopDim& d, int64_t origin, int64_t element) {
  TapTable taps;
  if (d.filter >= 0) g.filters[d.filter].table(d.hi - d.lo, taps);
  const int64_t stride = d.sample_stride() * element;
  Picks picks;
  picks.to = d.out_stride * element;
  for (int64_t i = d.lo; i < d.hi; ++i) {
    const int64_t at = d.filter < 0 ? i : taps.first[i - d.lo];  // position in the window
    picks.from.push_back((d.start + d.step * at - origin) * stride);
  }
  return picks;
}

}  // namespace

bool run_picked(SampleRun& run) {
  const SampleGeometry& g = run.scratch.geometry;
  if (run.stage.result != run.stage.source || run.inputs[0].dtype != run.output.dtype) return false;
  for (const auto& i : run.stage.code)
    if (i.kind == Instruction::tile || i.kind == Instruction::convert) return false;
  if (!g.indexed) return false;
  const auto element = static_cast<int64_t>(size_of(run.output.dtype));
  const char* in = static_cast<const char*>(run.inputs[0].data);
  char* out = static_cast<char*>(run.output.data);
  std::vector<Picks> dims(g.dims.size());
  for (int d = 0; d < g.dims.size(); ++d) {
    dims[d] = picks_of(g, g.dims[d], run.origin[d], element);
    out += g.dims[d].lo * dims[d].to;
  }
  if (g.has_plane) {  // around the dimensions whose steps in the output are smaller
    auto at = dims.begin();
    const int64_t to = g.plane.out_stride * element;
    while (at != dims.end() && at->to > to) ++at;
    dims.insert(at, picks_of(g, g.plane, 0, element)), out += g.plane.lo * to;
  }
  // Trailing dimensions that are whole runs in both memories become one wide element.
  int64_t bytes = element;
  while (dims.size() > 1) {
    const Picks& last = dims.back();
    bool run_of_bytes = last.to == bytes;
    for (size_t i = 0; run_of_bytes && i < last.from.size(); ++i)
      run_of_bytes = last.from[i] == last.from[0] + static_cast<int64_t>(i) * bytes;
    if (!run_of_bytes) break;
    in += last.from[0];
    bytes *= static_cast<int64_t>(last.from.size());
    dims.pop_back();
  }
  if (dims.empty()) std::memcpy(out, in, static_cast<size_t>(bytes));
  else pick_dims(in, out, dims, 0, bytes);
  return true;
}

}  // namespace penstock
