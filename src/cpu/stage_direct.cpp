// SPDX-License-Identifier: Apache-2.0
// Stages whose map is at most an integer map: strided loops over rows, merged as far as memory allows.
#include <algorithm>
#include <cstring>

#include "cpu/stage_state.h"

namespace penstock {
namespace {

Nest make_nest(const SampleRun& run) {
  const auto& st = run.stage;
  const int inputs = static_cast<int>(st.program.inputs.size());
  const int n = run.placement ? run.placement->ndim() : run.output.shape.size();
  Nest nest;
  nest.out_base = static_cast<char*>(run.output.data);
  for (int k = 0; k < inputs; ++k) nest.in_base[k] = static_cast<const char*>(run.inputs[k].data);
  const auto out_bytes = static_cast<int64_t>(size_of(run.output.dtype));
  std::vector<Nest::Dim> dims;
  for (int d = 0; d < n; ++d) {
    Nest::Dim dim;
    int64_t lo = 0;
    const int64_t out_stride = run.output.strides[run.out_dim[d]];
    if (run.placement) {
      const DimMap& m = (*run.placement)[d];
      int64_t hi;
      m.valid(lo, hi);
      dim.extent = hi - lo;
      const int64_t stride = run.inputs[0].strides[d];
      dim.in[0] = stride * m.step;
      nest.in_base[0] +=
          (m.start + m.step * lo - run.origin[d]) * stride * static_cast<int64_t>(size_of(run.inputs[0].dtype));
    } else {
      dim.extent = run.output.shape[run.out_dim[d]];
      if (d == run.plane_dim) dim.extent = run.in_planes;
      for (int k = 0; k < inputs; ++k) {  // trailing dimensions are aligned, extents of 1 are repeated
        const int at = d - (n - run.inputs[k].shape.size());
        dim.in[k] = at < 0 || run.inputs[k].shape[at] == 1 ? 0 : run.inputs[k].strides[at];
      }
    }
    dim.out = out_stride;
    nest.out_base += lo * out_stride * out_bytes;
    if (d == run.plane_dim && st.needs_channels) {
      nest.plane = dim;
      nest.has_plane = true;
    } else if (dim.extent != 1) {
      dims.push_back(dim);
    }
  }
  // Merge neighbors that are one run in memory for everybody.
  std::vector<Nest::Dim> merged;
  for (const auto& d : dims) {
    bool fits = !merged.empty() && merged.back().out == d.out * d.extent && !st.positional;
    for (int k = 0; fits && k < inputs; ++k) fits = merged.back().in[k] == d.in[k] * d.extent;
    if (fits) {
      const int64_t extent = merged.back().extent * d.extent;
      merged.back() = d;
      merged.back().extent = extent;
    } else {
      merged.push_back(d);
    }
  }
  if (!nest.has_plane && merged.size() >= 2 && merged.back().extent <= 16 && merged.back().extent > 1) {
    nest.plane = merged.back();
    nest.has_plane = true;
    merged.pop_back();
  }
  if (!merged.empty()) {
    nest.row = merged.back();
    merged.pop_back();
  } else {
    nest.row.extent = 1;
    nest.row.out = 1;
    for (auto& s : nest.row.in) s = 1;
  }
  nest.ndim = static_cast<int>(merged.size());
  std::copy(merged.begin(), merged.end(), nest.dims);
  return nest;
}

template <class F>
void for_each_row(const Nest& nest, size_t in_bytes[4], size_t out_bytes, F&& f) {
  int64_t index[Shape::kMaxDims] = {};
  const char* in[4];
  std::copy(std::begin(nest.in_base), std::end(nest.in_base), in);
  char* out = nest.out_base;
  for (;;) {
    f(in, out);
    int d = nest.ndim - 1;
    for (; d >= 0; --d) {
      const auto& dim = nest.dims[d];
      ++index[d];
      for (int k = 0; k < 4; ++k) in[k] += dim.in[k] * static_cast<int64_t>(in_bytes[k]);
      out += dim.out * static_cast<int64_t>(out_bytes);
      if (index[d] < dim.extent) break;
      for (int k = 0; k < 4; ++k) in[k] -= dim.in[k] * dim.extent * static_cast<int64_t>(in_bytes[k]);
      out -= dim.out * dim.extent * static_cast<int64_t>(out_bytes);
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
  const int64_t planes = nest.has_plane ? nest.plane.extent : 1;
  const auto& row = nest.row;
  size_t in_bytes[4] = {bytes, 0, 0, 0};
  // Neighboring planes that travel together are one wide element.
  const bool pixels = nest.has_plane && nest.plane.in[0] == 1 && nest.plane.out == 1 && row.out == planes &&
                      (row.in[0] == planes || row.in[0] == -planes) && copy_of(bytes * planes);
  const CopyFn copy = copy_of(pixels ? bytes * planes : bytes);
  for_each_row(nest, in_bytes, bytes, [&](const char* const* in, char* out) {
    if (pixels) {
      copy(in[0], row.in[0] / planes, out, 1, row.extent);
      return;
    }
    for (int64_t p = 0; p < planes; ++p) {
      const char* a = in[0] + p * nest.plane.in[0] * static_cast<int64_t>(bytes);
      char* b = out + p * nest.plane.out * static_cast<int64_t>(bytes);
      if (row.in[0] == 1 && row.out == 1) std::memcpy(b, a, static_cast<size_t>(row.extent) * bytes);
      else copy(a, row.in[0], b, row.out, row.extent);
    }
  });
}

// The chain from uint8 as one table of 256 entries: made by running the chain on 0 to 255, so exact by construction.
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

  if (st.lookup && run.output.volume() >= 4096 && nest.row.in[0] == 1 && nest.row.out == 1 && nest.row.extent >= 64) {
    make_table(run);
    const LookupFn lookup = run.convert.lookup[out_bytes];
    const int64_t planes = nest.has_plane ? nest.plane.extent : 1;
    for_each_row(nest, in_bytes, out_bytes, [&](const char* const* in, char* out) {
      for (int64_t p = 0; p < planes; ++p)
        lookup(reinterpret_cast<const uint8_t*>(in[0]) + p * nest.plane.in[0], nest.row.extent,
               run.scratch.table.data(), out + p * nest.plane.out * static_cast<int64_t>(out_bytes));
    });
    return;
  }

  if (!st.needs_channels) run.in_planes = run.out_planes = nest.has_plane ? static_cast<int>(nest.plane.extent) : 1;
  TileProgram program(run, tile_length(std::max(run.in_planes, run.out_planes)));
  int64_t y = 0;
  for_each_row(nest, in_bytes, out_bytes, [&](const char* const* in, char* out) {
    for (int64_t x = 0; x < nest.row.extent; x += program.tile_n()) {
      TilePlace place{};
      place.n = std::min(program.tile_n(), nest.row.extent - x);
      for (size_t k = 0; k < st.program.inputs.size(); ++k) {
        place.in[k] = in[k] + x * nest.row.in[k] * static_cast<int64_t>(in_bytes[k]);
        place.in_step[k] = nest.row.in[k];
        place.in_plane[k] = nest.plane.in[k];
      }
      place.out = out + x * nest.row.out * static_cast<int64_t>(out_bytes);
      place.out_step = nest.row.out;
      place.out_plane = nest.plane.out;
      place.x = x, place.y = y;
      program.execute(place);
    }
    ++y;
  });
}

}  // namespace penstock
