// SPDX-License-Identifier: Apache-2.0
// Where a kernel reads and writes one sample (or one frame of it): loops over dimensions, a loop over planes, taps of
// filters, an affine map. The same steps as on the CPU, ending in numbers instead of calls.
#pragma once
#include <optional>

#include "ops/machine/stage_code.h"

namespace penstock {

struct LoopDim {
  int64_t extent = 1;            // of the output
  int64_t lo = 0, hi = 1;        // outputs [lo, hi) read the input; the others are fill
  int64_t out_stride = 0;        // elements
  int64_t in_stride[kMaxStageInputs] = {};
  int filter = -1;               // of a filtered dimension: index into SampleGeometry::filters
  int axis = -1;                 // of a warped dimension: 0 x, 1 y, 2 z
};

// A filtered dimension: output i, counted from the first that reads the input, is output begin + step * i of the filter,
// whose position k is sample k * tap_step of the source.
struct DimFilter {
  AxisFilter filter;
  int64_t in = 0, begin = 0, step = 1, tap_step = 1;
  bool picks() const { return filter.kind == FilterKind::nearest; }
  TapTable table(int64_t count) const {
    TapTable t;
    make_taps(filter, in, begin, step, count, t);
    return t;
  }
};

struct SampleGeometry {
  int entry = 0;                 // sample of the batch
  SampleContext context;         // of its coefficients
  const char* in[kMaxStageInputs] = {};
  char* out = nullptr;
  std::vector<LoopDim> dims;     // outermost first
  LoopDim plane;                 // the channels, where they are kept in registers
  bool has_plane = false;
  int plane_pick = -1;           // index into filters: which plane of the input is read
  int in_planes = 1, out_planes = 1;
  bool fills = false;            // some output is fill
  bool indexed = false;          // every filter picks single samples
  std::vector<DimFilter> filters;
  std::vector<float> fill_values;
  std::optional<AffineMap> affine;
  int64_t source_extent[3] = {1, 1, 1};  // x, y, z of a warp
  int64_t positions() const;
};

// Geometry of the samples of one call. Throws where a sample cannot be (the caller names it).
class StageGeometry {
 public:
  explicit StageGeometry(const StageCode& code) : code_(code) {}
  // Appends one entry, or one for each frame where arguments differ between frames. `out` is the sample's output.
  void add(const SampleContext& context, std::span<const View> in, const View& out, std::vector<SampleGeometry>& to) const;
  // The CPU goes node by node where frames move; so must the caller.
  bool needs_single_nodes(const SampleContext& context, std::span<const Shape> shapes) const;

 private:
  void add_one(const SampleContext& context, std::span<const View> in, const View& out,
               std::vector<SampleGeometry>& to) const;
  const StageCode& code_;
};

// Joins neighbors that are one run in memory for everybody; drops extents of 1; makes planes of a few channels that are
// left innermost. Only without filters and warps.
void merge_dims(SampleGeometry& g, int inputs);

}  // namespace penstock
