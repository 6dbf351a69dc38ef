// SPDX-License-Identifier: Apache-2.0
// Stages whose map is at most an integer map: strided loops over rows, merged if memory allows.
#include <algorithm>
#include <atomic>

#include "batch/copy_boxes.h"
#include "cpu/row_nest.h"
#include "operator/byte_pixels.h"

namespace penstock {
namespace {

constexpr int64_t kLongTile = 8192;

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

// All elements; the output's channel c is the input's channel first + c * step.
void copy_nest(const Nest& nest, const SampleRun& run, int first, int step) {
  const auto bytes = static_cast<int64_t>(size_of(run.output.dtype));
  FixedVector<CopyDim, kMostCopyDims> dims;
  for (const LoopDim& d : nest.loops.dims) dims.push_back({d.extent, d.in_stride[0] * bytes, d.out_stride * bytes});
  const char* from = nest.in_base[0];
  if (nest.has_plane()) {
    const LoopDim& p = nest.plane();
    dims.push_back({p.extent, step * p.in_stride[0] * bytes, p.out_stride * bytes});
    from += first * p.in_stride[0] * bytes;
  }
  copy_boxes(from, nest.out_base, std::span(dims.begin(), dims.end()), bytes, run.stage.target);
}

// Whether the stage is one pixel function on integers that with these coefficients only reverses the three channels, or
// leaves them as they are. Floating point goes through it, for it makes NaN of infinities.
bool moves_channels(const SampleRun& run, int& first, int& step) {
  const auto& st = run.stage;
  const DType type = run.output.dtype;
  if (!st.needs_channels || st.program.inputs.size() != 1 || run.inputs[0].dtype != type || is_float(type) ||
      size_of(type) > 4 || run.in_planes != 3 || run.out_planes != 3)
    return false;
  int node = -1;
  for (const Instruction& i : st.code) {
    if (i.kind != Instruction::tile) continue;
    if (node >= 0) return false;
    node = i.node;
  }
  int from[3];
  if (node < 0 || st.traits[node].per_channel) return false;
  const auto& tile = *std::ranges::find(st.code, Instruction::tile, &Instruction::kind);
  if (!st.program.nodes[node].op->moves_channels(tile.lane, run.scratch.coef.data() + run.scratch.coef_offset[node],
                                                 from))
    return false;
  first = from[0], step = from[1] - from[0];
  return from[2] - from[1] == step;
}

// Whether the stage is one pixel function from pixels of three numbers of a type to such pixels, side by side.
bool has_pixels_of(DType wanted, const SampleRun& run, const Nest& nest) {
  const auto& st = run.stage;
  const auto of_type = [wanted](DType type, int planes) { return type == wanted && planes == 3; };
  if (st.program.nodes.size() != 1 || st.program.inputs.size() != 1 || st.code.size() != 2 || !nest.has_plane() ||
      !of_type(run.inputs[0].dtype, run.in_planes) || !of_type(run.output.dtype, run.out_planes) ||
      nest.row.in_stride[0] != 3 || nest.row.out_stride != 3 || nest.plane().in_stride[0] != 1 ||
      nest.plane().out_stride != 1)
    return false;
  const Instruction& last = st.code[1];
  return last.kind == Instruction::tile && last.lane == Lane::f32 && !st.traits[0].per_channel;
}

// Whether that is a matrix, which it then writes to m.
bool turns_colors(const SampleRun& run, float* m) {
  return run.stage.program.nodes[0].op->color_matrix(run.scratch.coef.data() + run.scratch.coef_offset[0], m);
}

// Whether all operands and the result have their elements side by side.
bool has_dense_rows(const CpuStage::State& st, const Nest& nest) {
  const auto side_by_side = [&](int input) { return nest.row.in_stride[input] == 1; };
  return nest.row.out_stride == 1 && std::ranges::all_of(st.program.nodes[0].operands, side_by_side);
}

// A row through the loop over memory, without tiles.
void run_dense_row(const Nest& nest, SampleRun& run, const char* const* in, char* out) {
  const auto& st = run.stage;
  const StageNode& node = st.program.nodes[0];
  const LoopDim& plane = nest.plane();
  const int64_t planes = nest.has_plane() ? plane.extent : 1;
  for (int64_t p = 0; p < planes; ++p) {
    const void* from[kMaxOperands];
    TileCall call;
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const int input = node.operands[k];
      from[k] = in[input] + p * plane.in_stride[input] * static_cast<int64_t>(size_of(run.inputs[input].dtype));
      call.in[k] = &from[k];
    }
    void* to = out + p * plane.out_stride * static_cast<int64_t>(size_of(run.output.dtype));
    bool fault = false;
    call.out = &to;
    call.n = nest.row.extent;
    call.coef = run.scratch.coef.data() + run.scratch.coef_offset[0];
    call.fault = &fault;
    st.dense(call);
    if (fault) as_operator(*node.op, [&] { bad_argument("{}", node.op->fault()); });
  }
}

// Whether the stage is one pixel function or chain that reads and writes float32 in memory, side by side: it
// uses no register, so a tile may be as long as the first-level cache allows.
bool has_no_registers(const SampleRun& run, const Nest& nest) {
  const auto& st = run.stage;
  if (st.code.empty() || nest.row.out_stride != 1) return false;
  const auto last = st.code.back().kind;
  if (last != Instruction::tile && last != Instruction::chain) return false;
  const auto float32 = [&](const Instruction& i) {
    return i.kind == Instruction::load && i.dtype == DType::float32 && i.lane == Lane::f32 &&
           nest.row.in_stride[i.from[0]] == 1;
  };
  return run.output.dtype == DType::float32 && st.code.back().lane == Lane::f32 &&
         std::all_of(st.code.begin(), st.code.end() - 1, float32);
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
  int64_t tile = 4096;
  const auto in_bands = [&](const auto& body) {
    const auto of_band = [&](SampleRun& band, int64_t from, int64_t to) {
      if (&band == &run) return body(nest, run, 0);
      Nest part(nest, band.scratch.geometry);
      part.cut(band.scratch.geometry, from, to, tile, in_bytes, out_bytes);
      body(part, band, nest.outer > 0 ? 0 : from * tile);
    };
    run_bands(run, nest.bands(tile), std::ref(of_band));  // a reference needs no memory of its own
  };
  int first = 0, step = 1;
  if (st.only_copies || (nest.has_plane() && moves_channels(run, first, step)))
    return in_bands([&](const Nest& part, SampleRun&, int64_t) { copy_nest(part, run, first, step); });

  float matrix[12];
  const bool of_bytes = st.needs_channels && has_pixels_of(DType::uint8, run, nest);
  const BytePixels byte_loop = of_bytes ? byte_pixels(*st.program.nodes[0].op) : nullptr;
  if (byte_loop && byte_loop(*st.program.nodes[0].op, st.target, nullptr, nullptr, 0))
    return in_bands([&](const Nest& part, SampleRun&, int64_t) {
      for_each_row(part, in_bytes, out_bytes, [&](const char* const* in, char* out) {
        byte_loop(*st.program.nodes[0].op, st.target, reinterpret_cast<const uint8_t*>(in[0]),
                  reinterpret_cast<uint8_t*>(out), part.row.extent);
      });
    });

  if (of_bytes && turns_colors(run, matrix))
    return in_bands([&](const Nest& part, SampleRun& band, int64_t) {
      for_each_row(part, in_bytes, out_bytes, [&](const char* const* in, char* out) {
        band.convert.turn_colors(reinterpret_cast<const uint8_t*>(in[0]), reinterpret_cast<uint8_t*>(out),
                                 part.row.extent, matrix);
      });
    });
  if (st.needs_channels && has_pixels_of(DType::float32, run, nest) && turns_colors(run, matrix)) {
    const bool past_caches = has_large_output(run);
    in_bands([&](const Nest& part, SampleRun& band, int64_t) {
      for_each_row(part, in_bytes, out_bytes, [&](const char* const* in, char* out) {
        band.convert.turn_float_colors(reinterpret_cast<const float*>(in[0]), reinterpret_cast<float*>(out),
                                       part.row.extent, matrix, past_caches);
      });
      if (past_caches) std::atomic_thread_fence(std::memory_order_seq_cst);  // nothing else orders such stores
    });
    return;
  }

  if (st.dense && has_dense_rows(st, nest))
    return in_bands([&](const Nest& part, SampleRun& band, int64_t) {
      for_each_row(part, in_bytes, out_bytes,
                   [&](const char* const* in, char* out) { run_dense_row(part, band, in, out); });
    });

  if (st.lookup && run.output.volume() >= 4096 && nest.row.in_stride[0] == 1 && nest.row.out_stride == 1 &&
      nest.row.extent >= 64) {
    make_table(run);
    const LookupFn lookup = run.convert.lookup[out_bytes];
    const int64_t planes = nest.has_plane() ? nest.plane().extent : 1;
    in_bands([&](const Nest& part, SampleRun&, int64_t) {
      for_each_row(part, in_bytes, out_bytes, [&](const char* const* in, char* out) {
        for (int64_t p = 0; p < planes; ++p)
          lookup(reinterpret_cast<const uint8_t*>(in[0]) + p * part.plane().in_stride[0], part.row.extent,
                 run.scratch.table.data(), out + p * part.plane().out_stride * static_cast<int64_t>(out_bytes));
      });
    });
    return;
  }

  if (!st.needs_channels) run.in_planes = run.out_planes = nest.has_plane() ? static_cast<int>(nest.plane().extent) : 1;
  const int planes = std::max(run.in_planes, run.out_planes);
  tile = planes == 1 && has_no_registers(run, nest) ? kLongTile : tile_length(planes);
  in_bands([&](const Nest& part, SampleRun& band, int64_t left) {
    TileProgram program(band, tile);
    int64_t y = part.rows_before;
    for_each_row(part, in_bytes, out_bytes, [&](const char* const* in, char* out) {
      for (int64_t x = 0; x < part.row.extent; x += tile) {
        TilePlace place{};
        place.n = std::min(tile, part.row.extent - x);
        for (size_t k = 0; k < st.program.inputs.size(); ++k) {
          place.in[k] = in[k] + x * part.row.in_stride[k] * static_cast<int64_t>(in_bytes[k]);
          place.in_step[k] = part.row.in_stride[k];
          place.in_plane[k] = part.plane().in_stride[k];
        }
        place.out = out + x * part.row.out_stride * static_cast<int64_t>(out_bytes);
        place.out_step = part.row.out_stride;
        place.out_plane = part.plane().out_stride;
        place.x = left + x, place.y = y;
        program.execute(place);
      }
      ++y;
    });
  });
}

}  // namespace penstock
