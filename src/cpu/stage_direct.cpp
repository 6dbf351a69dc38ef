// SPDX-License-Identifier: Apache-2.0
// Stages whose map is at most an integer map: strided loops over rows, merged if memory allows.
#include <algorithm>
#include <cstring>

#include "cpu/stage_state.h"

namespace penstock {
namespace {

// The loops of a sample: over the rows, along a row, over the planes.
struct Nest {
  explicit Nest(const SampleGeometry& g) : loops(g), outer(std::max(0, g.dims.size() - 1)) {
    if (!g.dims.empty()) row = g.dims.back();
    if (row.extent != 1) return;
    row.out_stride = 1;
    std::fill_n(row.in_stride, kMaxStageInputs, 1);
  }
  const SampleGeometry& loops;
  LoopDim row;
  int outer;  // dimensions of `loops` around the rows
  const char* in_base[kMaxStageInputs] = {};
  char* out_base = nullptr;
  bool has_plane() const { return loops.has_plane; }
  const LoopDim& plane() const { return loops.plane; }
};

Nest make_nest(const SampleRun& run) {
  const auto& st = run.stage;
  const int inputs = static_cast<int>(st.program.inputs.size());
  SampleGeometry& g = run.scratch.geometry;
  int64_t in_bytes[kMaxStageInputs] = {};
  for (int k = 0; k < inputs; ++k) in_bytes[k] = static_cast<int64_t>(size_of(run.inputs[k].dtype));
  leave_out_fills(g, std::span(in_bytes, static_cast<size_t>(inputs)), static_cast<int64_t>(size_of(run.output.dtype)));
  merge_dims(g, inputs, st.geometry->planes().innermost, !st.positional);
  Nest nest(g);
  nest.out_base = static_cast<char*>(run.output.data) + g.out;
  for (int k = 0; k < inputs; ++k) nest.in_base[k] = static_cast<const char*>(run.inputs[k].data) + g.in[k];
  if (run.placement)  // a decoder makes a part of the source
    for (int d = 0; d < run.placement->ndim(); ++d)
      nest.in_base[0] -= run.origin[d] * run.inputs[0].strides[d] * in_bytes[0];
  return nest;
}

template <class F> void for_each_row(const Nest& nest, size_t in_bytes[4], size_t out_bytes, F&& f) {
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

// Elements of kBytes from one strided row to another.
template <size_t kBytes>
void copy_elements(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t n) {
  const int64_t a = in_step * static_cast<int64_t>(kBytes), b = out_step * static_cast<int64_t>(kBytes);
  for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * b, in + i * a, kBytes);
}

using CopyFn = void (*)(const char*, int64_t, char*, int64_t, int64_t);
CopyFn copy_of(size_t bytes) {
  switch (bytes) {
    case 1: return &copy_elements<1>;
    case 2: return &copy_elements<2>;
    case 3: return &copy_elements<3>;
    case 4: return &copy_elements<4>;
    case 6: return &copy_elements<6>;
    case 8: return &copy_elements<8>;
    case 12: return &copy_elements<12>;
    case 16: return &copy_elements<16>;
    default: return nullptr;
  }
}

void copy_rows(const Nest& nest, size_t bytes) {
  const int64_t planes = nest.has_plane() ? nest.plane().extent : 1;
  const auto& row = nest.row;
  size_t in_bytes[4] = {bytes, 0, 0, 0};
  // Neighboring planes that move together are one wide element.
  const bool pixels = nest.has_plane() && nest.plane().in_stride[0] == 1 && nest.plane().out_stride == 1 &&
                      row.out_stride == planes && (row.in_stride[0] == planes || row.in_stride[0] == -planes) &&
                      copy_of(bytes * planes);
  const CopyFn copy = copy_of(pixels ? bytes * planes : bytes);
  for_each_row(nest, in_bytes, bytes, [&](const char* const* in, char* out) {
    if (pixels) {
      copy(in[0], row.in_stride[0] / planes, out, 1, row.extent);
      return;
    }
    for (int64_t p = 0; p < planes; ++p) {
      const char* a = in[0] + p * nest.plane().in_stride[0] * static_cast<int64_t>(bytes);
      char* b = out + p * nest.plane().out_stride * static_cast<int64_t>(bytes);
      if (row.in_stride[0] == 1 && row.out_stride == 1) std::memcpy(b, a, static_cast<size_t>(row.extent) * bytes);
      else copy(a, row.in_stride[0], b, row.out_stride, row.extent);
    }
  });
}

// The chain from uint8 as a table of 256 entries: made by running the chain on 0 to 255, so exact by construction.
void make_table(SampleRun& run) {
  uint8_t all[256];
  for (int i = 0; i < 256; ++i) all[i] = static_cast<uint8_t>(i);
  run.scratch.table.resize(256 * size_of(run.output.dtype) + 64);
  run.in_planes = run.out_planes = 1;
  TileProgram program(run, 256);
  TilePlace place{};
  place.in[0] = reinterpret_cast<const char*>(all);
  place.in_step[0] = 1;
  place.out = reinterpret_cast<char*>(run.scratch.table.data());
  place.out_step = 1;
  place.n = 256;
  program.execute(place);
}

}  // namespace

void run_direct(SampleRun& run) {
  const auto& st = run.stage;
  const Nest nest = make_nest(run);
  size_t in_bytes[4] = {};
  for (size_t k = 0; k < st.program.inputs.size(); ++k) in_bytes[k] = size_of(run.inputs[k].dtype);
  const size_t out_bytes = size_of(run.output.dtype);
  if (st.only_copies) return copy_rows(nest, out_bytes);

  if (st.lookup && run.output.volume() >= 4096 && nest.row.in_stride[0] == 1 && nest.row.out_stride == 1 &&
      nest.row.extent >= 64) {
    make_table(run);
    const LookupFn lookup = run.convert.lookup[out_bytes];
    const int64_t planes = nest.has_plane() ? nest.plane().extent : 1;
    for_each_row(nest, in_bytes, out_bytes, [&](const char* const* in, char* out) {
      for (int64_t p = 0; p < planes; ++p)
        lookup(reinterpret_cast<const uint8_t*>(in[0]) + p * nest.plane().in_stride[0], nest.row.extent,
               run.scratch.table.data(), out + p * nest.plane().out_stride * static_cast<int64_t>(out_bytes));
    });
    return;
  }

  if (!st.needs_channels) run.in_planes = run.out_planes = nest.has_plane() ? static_cast<int>(nest.plane().extent) : 1;
  TileProgram program(run, tile_length(std::max(run.in_planes, run.out_planes)));
  int64_t y = 0;
  for_each_row(nest, in_bytes, out_bytes, [&](const char* const* in, char* out) {
    for (int64_t x = 0; x < nest.row.extent; x += program.tile_n()) {
      TilePlace place{};
      place.n = std::min(program.tile_n(), nest.row.extent - x);
      for (size_t k = 0; k < st.program.inputs.size(); ++k) {
        place.in[k] = in[k] + x * nest.row.in_stride[k] * static_cast<int64_t>(in_bytes[k]);
        place.in_step[k] = nest.row.in_stride[k];
        place.in_plane[k] = nest.plane().in_stride[k];
      }
      place.out = out + x * nest.row.out_stride * static_cast<int64_t>(out_bytes);
      place.out_step = nest.row.out_stride;
      place.out_plane = nest.plane().out_stride;
      place.x = x, place.y = y;
      program.execute(place);
    }
    ++y;
  });
}

}  // namespace penstock
