// SPDX-License-Identifier: Apache-2.0
// Stages that select single samples and change nothing else.
#include <algorithm>
#include <cstring>

#include "cpu/stage_state.h"

namespace penstock {
namespace {

struct Picks {
  std::vector<int64_t> from;  // offset in the input of each output, in bytes
  int64_t to = 0;             // step of the output, in bytes
  // Outputs [wide_begin, wide_end) are before others in both memories: what follows them may be read, and written.
  int64_t wide_begin = 0, wide_end = 0;
  bool runs = false;  // most outputs continue a run of the input
};

// What the row itself says, once for all rows; `bytes` are those of an element.
void describe(Picks& p, int64_t bytes) {
  const auto n = static_cast<int64_t>(p.from.size());
  if (n < 2) return;
  const int64_t highest = *std::ranges::max_element(p.from);
  int64_t breaks = 0;
  for (int64_t i = 1; i < n; ++i) breaks += p.from[i] != p.from[i - 1] + bytes;
  p.runs = n > 8 * breaks;
  while (p.wide_begin < n && p.from[p.wide_begin] == highest) ++p.wide_begin;
  for (p.wide_end = p.wide_begin; p.wide_end + 1 < n && p.from[p.wide_end] + bytes <= highest;) ++p.wide_end;
}

// Copies `bytes` from each place of the row to contiguous places.
template <int kBytes>
void pick_row(const char* in, char* out, const Picks& row, int64_t bytes) {
  const int64_t* const from = row.from.data();
  const int64_t step = kBytes ? kBytes : bytes;
  const auto n = static_cast<int64_t>(row.from.size());
  if (row.runs) {
    for (int64_t i = 0, end; i < n; i = end) {
      for (end = i + 1; end < n && from[end] == from[end - 1] + step;) ++end;
      std::memcpy(out + i * step, in + from[i], static_cast<size_t>((end - i) * step));
    }
    return;
  }
  const auto exact = [&](int64_t i, int64_t end) {
    for (; i < end; ++i) std::memcpy(out + i * step, in + from[i], static_cast<size_t>(kBytes ? kBytes : bytes));
  };
  constexpr int kWide = kBytes == 3 ? 4 : kBytes == 6 ? 8 : kBytes == 12 ? 16 : 0;  // one move each
  if constexpr (kWide > 0) {
    exact(0, row.wide_begin);
    for (int64_t i = row.wide_begin; i < row.wide_end; ++i) std::memcpy(out + i * step, in + from[i], kWide);
    exact(std::max(row.wide_begin, row.wide_end), n);
  } else {
    exact(0, n);
  }
}

void pick_dims(const char* in, char* out, const std::vector<Picks>& dims, size_t d, int64_t bytes) {
  if (d + 1 < dims.size()) {
    const Picks& row = dims.back();
    const bool dense = d + 2 == dims.size() && row.to == bytes;
    for (size_t i = 0; i < dims[d].from.size(); ++i) {
      char* const to = out + static_cast<int64_t>(i) * dims[d].to;
      if (dense && i > 0 && dims[d].from[i] == dims[d].from[i - 1])
        std::memcpy(to, to - dims[d].to, row.from.size() * static_cast<size_t>(bytes));
      else pick_dims(in + dims[d].from[i], to, dims, d + 1, bytes);
    }
    return;
  }
  const auto& last = dims.back();
  if (last.to != bytes) {
    for (size_t i = 0; i < last.from.size(); ++i)
      std::memcpy(out + static_cast<int64_t>(i) * last.to, in + last.from[i], static_cast<size_t>(bytes));
    return;
  }
  switch (bytes) {
    case 1: return pick_row<1>(in, out, last, bytes);
    case 2: return pick_row<2>(in, out, last, bytes);
    case 3: return pick_row<3>(in, out, last, bytes);
    case 4: return pick_row<4>(in, out, last, bytes);
    case 6: return pick_row<6>(in, out, last, bytes);
    case 8: return pick_row<8>(in, out, last, bytes);
    case 12: return pick_row<12>(in, out, last, bytes);
    case 16: return pick_row<16>(in, out, last, bytes);
    default: return pick_row<0>(in, out, last, bytes);
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
  if (!dims.empty()) describe(dims.back(), bytes);
  if (dims.empty()) std::memcpy(out, in, static_cast<size_t>(bytes));
  else pick_dims(in, out, dims, 0, bytes);
  return true;
}

}  // namespace penstock
