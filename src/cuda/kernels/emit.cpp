// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/emit.h"

#include <algorithm>

#include "cuda/kernels/kernel_writer.h"

namespace penstock {
namespace {

constexpr int kInFlight = 4;  // vectors of a thread at once, kind elements

size_t largest_element(const StageCode& code) {
  size_t n = size_of(type_of(code.program, code.program.outputs[0]).dtype);
  for (size_t k = 0; k < code.program.inputs.size(); ++k)
    n = std::max(n, size_of(input_dtype(code, static_cast<int>(k))));
  return n;
}
int vector_elements(const StageCode& code) { return static_cast<int>(16 / largest_element(code)); }

class Emitter : KernelWriter {
 public:
  using KernelWriter::KernelWriter;
  std::string write() {
    const bool warped = warps_image(code, variant), boxes = warped && variant.boxes;
    begin_text(headers());
    if (variant.kind == StageVariant::Kind::elements)
      of_source(fmt::format("elements<Stage, {}, {}>", vector_elements(code), kInFlight));
    else if (variant.kind == StageVariant::Kind::positions) of_source("positions<Stage>");
    else if (boxes) write_boxes_kernel(*this);
    else if (warped) write_warped_kernel(*this);
    else if (variant.kind == StageVariant::Kind::tiled) write_tiled_kernel(*this);
    else
      of_source(variant.kind == StageVariant::Kind::filtered ? "sampled<Stage, StageTaps<Stage>>"
                                                             : "sampled<Stage, StageWarp<Stage>>");
    end_text();
    return std::move(text);
  }

 private:
  // A kernel that is a template of a header.
  void of_source(const std::string& kernel) {
    stage(group_positions(code, variant));
    line("__device__ inline void run(const char* table) {{ {}(table); }}", kernel);
  }
  std::vector<const char*> headers() const {
    using Path = StageVariant::Path;
    const bool tiled = variant.kind == StageVariant::Kind::tiled, warped = warps_image(code, variant);
    if (variant.kind == StageVariant::Kind::elements) return {"groups.h", "stage_block.h", "elements.h"};
    if (variant.kind == StageVariant::Kind::positions) return {"groups.h", "stage_block.h", "positions.h"};
    if (!tiled && !warped) return {"groups.h", "stage_block.h", "positions.h", "sampled.h"};
    std::vector<const char*> all = {"groups.h", "bytes.h"};
    if (warped) all.push_back("byte_pairs.h");
    if (warped && variant.boxes) all.push_back("byte_boxes.h");
    if (!tiled) return all;
    all.push_back("tile_taps.h");
    if (variant.path == Path::direct) all.push_back("pixel_words.h");
    if (variant.path == Path::resampled) all.push_back("byte_runs.h");
    if (variant.path >= Path::sliding) all.push_back("warp_lanes.h");
    if (variant.path == Path::streaming) all.push_back("streams.h");
    return all;
  }
};

}  // namespace

RowLayout row_layout(const StageCode& code, const StageVariant& v) {
  using Kind = StageVariant::Kind;
  RowLayout at;
  at.inputs = static_cast<int>(code.program.inputs.size());
  at.dims = v.kind == Kind::elements ? 0 : v.dims;
  at.axes = v.kind == Kind::tiled ? 0 : __builtin_popcount(v.filtered);
  at.fills = v.fills, at.faults = code.faults, at.filters = v.filtered != 0 || v.kind == Kind::tiled;
  at.picks_planes = v.picks_planes, at.has_plane = v.has_plane;
  at.warps = v.kind == Kind::warped, at.tiles = v.kind == Kind::tiled;
  return at;
}

int group_positions(const StageCode& code, const StageVariant& v) {
  if (v.generic) return 1;
  if (warps_image(code, v)) return kWarpGroup;
  if (v.kind != StageVariant::Kind::positions || v.planes > 4) return 1;
  // Eight pixels are whole vectors of planar halves; of bytes side by side they are too many where rows are not
  // aligned.
  if (v.planes > 1)
    return size_of(type_of(code.program, code.program.outputs[0]).dtype) == 2 && largest_element(code) == 2 ? 8 : 4;
  return static_cast<int>(std::min<size_t>(8, 16 / largest_element(code)));
}
int64_t work_granule(const StageCode& code, const StageVariant& v) {
  return v.kind == StageVariant::Kind::elements ? int64_t{kStageThreads} * vector_elements(code) * kInFlight
                                                : kStageThreads;
}
size_t shared_bytes(const StageCode& code, const StageVariant& v) {
  return v.table ? 256 * std::max(1, v.planes) * size_of(type_of(code.program, code.program.outputs[0]).dtype) : 0;
}
std::string emit_stage(const StageCode& code, const StageVariant& v) { return Emitter(code, v).write(); }

}  // namespace penstock
