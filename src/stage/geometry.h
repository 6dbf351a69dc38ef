// SPDX-License-Identifier: Apache-2.0
// Where a stage reads and writes one sample (or one frame of it), as numbers: loops over dimensions, a loop of planes,
// filters, an affine map, fills. They follow from shapes, strides and arguments alone; the CPU and the GPU run them.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "operator/pixel_source.h"
#include "stage/code.h"

namespace penstock {

constexpr int64_t kMostPlanes = 256;  // that a pixel function reads together; hyperspectral cameras have about 220

struct LoopDim {
  int64_t extent = 1;      // of the output
  int64_t lo = 0, hi = 1;  // outputs [lo, hi) read the input; the others are fill
  int64_t out_stride = 0;  // elements
  int64_t in_stride[kMaxStageInputs] = {};
  // Position k of the window of a map is sample start + step * k of the source, or of what a warp makes of it.
  int64_t start = 0, step = 1;
  int filter = -1;  // of a filtered dimension: index into SampleGeometry::filters
  int axis = -1;    // of a warped dimension: 0 x, 1 y, 2 z
  // Elements of a mapped source from sample to sample: in_stride includes the step only where there is no filter.
  int64_t sample_stride() const { return filter < 0 ? in_stride[0] * step : in_stride[0]; }
};

// A filtered dimension: output i, counted from the first that reads the input, is output begin + step * i of the
// filter. Its taps are positions in the window (LoopDim::step): strides of the input do not include the step.
struct DimFilter {
  AxisFilter filter;
  int64_t in = 0, begin = 0, step = 1;
  bool picks() const { return filter.kind == FilterKind::nearest; }
  void table(int64_t count, TapTable& t) const { make_taps(filter, in, begin, step, count, t); }
};

// What the places of a frame's pixels mean (stage/frame_pixels.h).
struct FrameAddress {
  FramePlanes planes{};
  int row_shift = 0, frame_shift = 0;
  int64_t at = 0;  // of the first pixel that is read
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
  FrameAddress frame;                    // where the stage reads frames; then in[0] is 0
  int64_t positions() const;
  void clear();  // as new, but for memory that it keeps
};

// Takes the geometries of a sample.
class GeometrySink {
 public:
  virtual SampleGeometry& add() = 0;  // as new

 protected:
  ~GeometrySink() = default;
};

// Geometries that are used again by the next call. `Sample`: a SampleGeometry, and what a device adds to it.
template <class Sample> class GeometryList final : public GeometrySink {
 public:
  Sample& add() override {
    if (n_ == kept_.size()) kept_.push_back(std::make_unique<Sample>());
    kept_[n_]->clear();
    return *kept_[n_++];
  }
  void shrink(size_t n) { n_ = n; }
  size_t size() const { return n_; }
  Sample& operator[](size_t i) { return *kept_[i]; }

 private:
  std::vector<std::unique_ptr<Sample>> kept_;
  size_t n_ = 0;
};

// Which channels a device keeps in registers.
struct PlaneRule {
  int64_t filtered = 4;      // channels of a stage that filters or warps, where no pixel function reads them together
  int64_t innermost = 4;     // positions of an innermost loop
  bool filled_apart = true;  // channels that are filled with values of their own
};

// The channels of a sample.
struct Planes {
  int dim = -1;  // of the iteration; -1: they are not kept in registers
  int in = 1, out = 1;
};

// Which outputs read the source.
enum class Coverage : uint8_t { all, some, none };
Coverage coverage_of(const Placement& placement);

// Geometry of the samples of a stage. Throws where a sample cannot be (the caller names it).
class StageGeometry {
 public:
  StageGeometry(const StageCode& code, PlaneRule rule);
  // The shape of the output, and one geometry (or one for each frame where arguments differ between frames) of a sample
  // with these inputs. The output is dense. Where it throws with `shape` set, the shape was not what is wrong.
  void add(const SampleContext& context, std::span<const View> in, Shape& shape, GeometrySink& to) const;

  // Whether the output's shape follows from place() of the only input's.
  bool maps_give_shape() const { return maps_give_shape_; }
  // What the maps make of an input of this shape.
  void place(const SampleContext& context, const Shape& in, std::optional<Placement>& placement) const;
  // The shape of the output; `placement` is that of the sample if the shape follows from it.
  Shape output_shape(const SampleContext& context, std::span<const Shape> in,
                     std::optional<Placement>& placement) const;
  // The dimensions of the iteration: those of input 0 if there are maps, else those of the output, to which inputs
  // broadcast.
  const Layout& layout() const { return layout_; }
  // The output's dimension of each.
  std::span<const int> out_dims() const { return out_dim_; }
  const PlaneRule& planes() const { return rule_; }
  // The channels. Null: the stage does not map.
  Planes planes_of(std::span<const View> in, const Placement* placement, int ndim) const;
  // Loops over the samples of an output of this shape; `strides` are the output's.
  void add_loops(const SampleContext& context, std::span<const View> in, const Shape& shape, const Shape& strides,
                 const Placement* placement, SampleGeometry& g) const;

 private:
  void add_pixels(const SampleContext& context, const View& in, const Shape& shape, GeometrySink& to) const;
  void add_frames(const SampleContext& context, std::span<const View> in, Shape& shape, GeometrySink& to) const;
  void add_mapped(const View& in, const DimMap& m, int d, bool is_plane, LoopDim& dim, SampleGeometry& g) const;
  const StageCode& code_;
  const ValueType& out_type_;
  PlaneRule rule_;
  Layout layout_;
  int out_dim_[Shape::kMaxDims];
  bool same_shape_ = true;        // the output has the shape of the only input
  bool maps_give_shape_ = false;  // the output's shape follows from all maps together
};

// Makes the dimensions those of the outputs that read the input.
void leave_out_fills(SampleGeometry& g, std::span<const int64_t> in_bytes, int64_t out_bytes);
// Joins neighbors that are one run in memory for everybody; drops extents of 1; makes planes of at most `planes`
// channels that are left innermost. Only without filters and warps. `joins`: false: positions stay what they are.
void merge_dims(SampleGeometry& g, int inputs, int64_t planes = PlaneRule().innermost, bool joins = true);

}  // namespace penstock
