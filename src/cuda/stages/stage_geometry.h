// SPDX-License-Identifier: Apache-2.0
// Where a kernel reads and writes one sample (or one frame of it): loops over dimensions, a loop over planes, taps of
// filters, an affine map. The same steps as on the CPU, ending in numbers instead of calls.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "cuda/kernels/emit.h"
#include "stage/code.h"

namespace penstock {

struct LoopDim {
  int64_t extent = 1;      // of the output
  int64_t lo = 0, hi = 1;  // outputs [lo, hi) read the input; the others are fill
  int64_t out_stride = 0;  // elements
  int64_t in_stride[kMaxStageInputs] = {};
  int filter = -1;  // of a filtered dimension: index into SampleGeometry::filters
  int axis = -1;    // of a warped dimension: 0 x, 1 y, 2 z
};

// A filtered dimension: output i, counted from the first that reads the input, is output begin + step * i of the
// filter, whose position k is sample k * tap_step of the source.
struct DimFilter {
  AxisFilter filter;
  int64_t in = 0, begin = 0, step = 1, tap_step = 1;
  bool picks() const { return filter.kind == FilterKind::nearest; }
  void table(int64_t count, TapTable& t) const { make_taps(filter, in, begin, step, count, t); }
};

// What a block of a tiled kernel makes of the two innermost dimensions.
struct Tile {
  int width = 0, height = 0, band = 0;  // band: rows that are in shared memory at once
  size_t bytes = 0;                     // of shared memory
};
struct Tiling {
  AxisTaps x{}, y{};  // of the two
  Tile tile;          // where the text suits the sample alone
};

// Where one sample (or one frame of it) is read and written, but for the addresses: samples may share it.
struct SampleGeometry {
  SampleContext context;                       // of its coefficients
  int64_t in[kMaxStageInputs] = {}, out = 0;   // bytes from the sample's first element
  FixedVector<LoopDim, Shape::kMaxDims> dims;  // outermost first
  LoopDim plane;                               // the channels, where they are kept in registers
  bool has_plane = false;
  int plane_pick = -1;  // index into filters: which plane of the input is read
  int in_planes = 1, out_planes = 1;
  bool fills = false;    // some output is fill
  bool indexed = false;  // every filter picks single samples
  FixedVector<DimFilter, Shape::kMaxDims> filters;
  std::vector<float> fill_values;
  std::optional<AffineMap> affine;
  int64_t source_extent[3] = {1, 1, 1};  // x, y, z of a warp
  // By variant_of:
  StageVariant variant;  // the text that suits it, alone
  Tiling tiling;
  int64_t positions() const;
  void clear();  // as new, but for memory that it keeps
};

// After it was copied: its taps refer to windows of its filters.
void refer_to_own_windows(SampleGeometry& g);

// Geometries that are used again by the next call.
class GeometryList {
 public:
  SampleGeometry& add();
  void shrink(size_t n) { n_ = n; }
  size_t size() const { return n_; }
  SampleGeometry& operator[](size_t i) { return *kept_[i]; }

 private:
  std::vector<std::unique_ptr<SampleGeometry>> kept_;
  size_t n_ = 0;
};

// The words of a geometry that comes again, as a table for this variant has them, but for addresses and offsets.
struct PackedWords {
  StageVariant variant;
  std::vector<int64_t> words;
};

// One entry of a table.
struct StageEntry {
  const SampleGeometry* geometry = nullptr;
  PackedWords* packed = nullptr;
  int sample = 0;             // of the batch
  int alike = -1;             // of the call's alike samples: its numbers in place of the geometry's; -1: none
  int windows = -1;           // where in the call's weights its own windows begin; -1: those of the geometry
  bool same_windows = false;  // all are the one that is there
  const char* in[kMaxStageInputs] = {};
  char* out = nullptr;
};

struct AlikeSample;
// All samples of a batch, where they differ in addresses, coefficients, their own window and a form's numbers alone.
struct StageRun {
  StageEntry like;                     // of sample 0, but for addresses
  int samples = 0;                     // 0: the batch has entries
  int window = 0;                      // weights of each sample's own window, one behind the other; 0: none
  const AlikeSample* alike = nullptr;  // of each sample, the numbers of a form; null: there is none
};

// Geometry of the samples of one call. Throws where a sample cannot be (the caller names it).
class StageGeometry {
 public:
  explicit StageGeometry(const StageCode& code);
  // The shape of the output, and one geometry (or one for each frame where arguments differ between frames) of a sample
  // with these inputs. The output is dense. Where it throws with `shape` set, the shape was not what is wrong.
  void add(const SampleContext& context, std::span<const View> in, Shape& shape, GeometryList& to) const;
  // Whether the output's shape follows from place() of the only input's.
  bool maps_give_shape() const { return maps_give_shape_; }
  void place(const SampleContext& context, const Shape& in, std::optional<Placement>& placement) const;

 private:
  Shape output_shape(const SampleContext& context, std::span<const View> in, std::optional<Placement>& placement) const;
  void add_one(const SampleContext& context, std::span<const View> in, const Shape& shape, const Shape& strides,
               const Placement* placement, SampleGeometry& g) const;
  void add_frames(const SampleContext& context, std::span<const View> in, const Shape& shape, GeometryList& to) const;
  const StageCode& code_;
  const ValueType& out_type_;
  Layout layout_;                 // of the iteration's dimensions
  int out_dim_[Shape::kMaxDims];  // the output's dimension of each
  bool same_shape_ = true;        // the output has the shape of the only input
  bool maps_give_shape_ = false;  // the output's shape follows from all maps together
};

// Joins neighbors that are one run in memory for everybody; drops extents of 1; makes planes of a few channels that are
// left innermost. Only without filters and warps.
void merge_dims(SampleGeometry& g, int inputs);

}  // namespace penstock
