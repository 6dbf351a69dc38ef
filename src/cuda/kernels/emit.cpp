// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/emit.h"

#include <algorithm>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/kernels/vocabulary.h"

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

bool has_long_functions(const StageCode& code) {
  return std::any_of(code.code.begin(), code.code.end(), [&](const Instruction& i) {
    return i.kind == Instruction::tile && calls_long_functions(code.program.nodes[i.node].op->device_text());
  });
}

class Emitter : KernelWriter {
 public:
  using KernelWriter::KernelWriter;
  std::string write() {
    const Kernel k = kernel();
    source_is_bytes = warps_image(code, variant) && code.source_stays_bytes;
    const bool averages = variant.kind == StageVariant::Kind::tiled && variant.averages;
    source_within = source_is_bytes || (averages && code.source_stays_bytes);
    begin_text(k.header);
    stage(group_positions(code, variant));
    line("__device__ inline void run(const char* table) {{ {}(table); }}", k.instance);
    end_text();
    return std::move(text);
  }

 private:
  // The instance of a template, and the header that has it.
  struct Kernel {
    const char* header;
    std::string instance;
  };
  Kernel kernel() const {
    if (warps_image(code, variant)) return image_warp();
    switch (variant.kind) {
      case StageVariant::Kind::elements: return elements();
      case StageVariant::Kind::positions:
        if (variant.pixel_rows) return {"pixel_rows.h", "pixel_rows<Stage>"};
        if (variant.moved_rows) return {"moved_rows.h", "moved_rows<Stage>"};
        return {"positions.h", "positions<Stage>"};
      case StageVariant::Kind::filtered: return {"sampled.h", "sampled<Stage, StageTaps<Stage>>"};
      case StageVariant::Kind::warped: return {"sampled.h", "sampled<Stage, StageWarp<Stage>>"};
      case StageVariant::Kind::tiled: break;
    }
    return tiled();
  }
  // The kernel contains the operators once for each element that a thread takes at once. Long functions wait for
  // arithmetic, not for memory, and take the compiler up to a second in that many copies.
  Kernel elements() const {
    const int most = vector_elements(code);
    const bool is_long = has_long_functions(code);
    return {"elements.h",
            fmt::format("elements<Stage, {}, {}>", is_long ? std::min(most, 4) : most, is_long ? 1 : kInFlight)};
  }
  Kernel image_warp() const {
    if (variant.boxes) return {"image_boxes.h", fmt::format("image_boxes<Stage, {}>", kStageThreads)};
    return {"image_warp.h", "image_warp<Stage>"};
  }
  Kernel tiled() const {
    using Path = StageVariant::Path;
    switch (variant.path) {
      case Path::indexed: return {"tile_indexed.h", "tile_indexed<Stage>"};
      case Path::direct: return {"tile_direct.h", "tile_direct<Stage>"};
      case Path::shared: return {"tile_shared.h", "tile_shared<Stage>"};
      case Path::resampled: return {"tile_resampled.h", "tile_resampled<Stage>"};
      case Path::window: return {"tile_window.h", "tile_window<Stage>"};
      case Path::sliding: return {"tile_sliding.h", "tile_sliding<Stage>"};
      case Path::streaming: return {"tile_streaming.h", fmt::format("tile_streaming<Stage, {}>", kStageThreads / 32)};
    }
    fail(ErrorKind::internal, "a tiled kernel without a path");
  }
};

}  // namespace

bool warps_image(const StageCode& code, const StageVariant& v) {
  return !v.generic && !code.reads_frames && v.kind == StageVariant::Kind::warped && v.warp_z < 0 &&
         v.warp_x == v.dims - 1 && v.warp_y == v.dims - 2 && v.planes <= 4 && v.narrow_source && !v.picks_planes &&
         code.program.inputs.size() == 1;
}

RowLayout row_layout(const StageCode& code, const StageVariant& v) {
  using Kind = StageVariant::Kind;
  RowLayout at;
  at.inputs = static_cast<int>(code.program.inputs.size());
  at.dims = v.kind == Kind::elements ? 0 : v.dims;
  at.axes = v.kind == Kind::tiled ? 0 : __builtin_popcount(v.filtered);
  at.fills = v.fills, at.faults = code.faults, at.filters = v.filtered != 0 || v.kind == Kind::tiled;
  at.picks_planes = v.picks_planes, at.has_plane = v.has_plane;
  at.warps = v.kind == Kind::warped, at.tiles = v.kind == Kind::tiled, at.frames = code.reads_frames;
  return at;
}

int group_positions(const StageCode& code, const StageVariant& v) {
  if (v.generic) return 1;
  if (warps_image(code, v)) return kWarpGroup;
  if (v.pixel_rows) return kRowPixels;
  if (v.moved_rows) return v.planes == 1 ? kMovedBytes / static_cast<int>(largest_element(code)) : kMovedPixels;
  if (v.kind != StageVariant::Kind::positions || v.planes > 4) return 1;
  // Eight pixels are whole vectors of planar halves; of bytes side by side they are too many where rows are not
  // aligned.
  if (v.planes > 1)
    return size_of(type_of(code.program, code.program.outputs[0]).dtype) == 2 && largest_element(code) == 2 ? 8 : 4;
  return static_cast<int>(std::min<size_t>(8, 16 / largest_element(code)));
}
int64_t work_granule(const StageCode& code, const StageVariant& v) {
  // Of a row, one part for each warp where it is only moved, else two.
  if (v.pixel_rows) return kStageThreads / 32 * (code.only_copies || v.reverses ? 1 : 2);
  if (v.moved_rows) return kStageThreads / 32;
  return v.kind == StageVariant::Kind::elements ? int64_t{kStageThreads} * vector_elements(code) * kInFlight
                                                : kStageThreads;
}
size_t shared_bytes(const StageCode& code, const StageVariant& v) {
  const size_t rows = v.pixel_rows ? size_t{kStageThreads / 32} * kRowBytes : 0;
  const size_t out = size_of(type_of(code.program, code.program.outputs[0]).dtype);
  if (warps_image(code, v)) return size_t{kStageThreads / 32} * kWarpDown * kExchangePitch * v.out_planes * out;
  return rows + (v.table ? 256 * std::max(1, v.planes) * out : 0);
}
std::string emit_stage(const StageCode& code, const StageVariant& v) { return Emitter(code, v).write(); }

}  // namespace penstock
