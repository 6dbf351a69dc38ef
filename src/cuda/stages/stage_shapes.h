// SPDX-License-Identifier: Apache-2.0
// What a stage keeps between calls where the geometry follows from the inputs' shapes, or from those and from the sizes
// of windows that samples are convolved with.
#pragma once
#include <unordered_map>

#include "cuda/stages/stage_geometry.h"

namespace penstock {

using WindowSizes = FixedVector<int, 3>;

struct KnownShape {
  FixedVector<Shape, kMaxStageInputs> in;  // of dense inputs
  WindowSizes windows;                     // empty: those of constants
  Shape out;
  std::vector<SampleGeometry> geometries;
  std::vector<PackedWords> packed;
};

class KnownShapes {
 public:
  void begin_call() {
    if (known_.size() > kMost) known_.clear();
    last_ = nullptr;
  }
  KnownShape* find(std::span<const Batch> inputs, int sample, const WindowSizes& windows);
  KnownShape& add(std::span<const Batch> inputs, int sample, const WindowSizes& windows);

 private:
  static constexpr size_t kMost = 4096;
  std::unordered_multimap<uint64_t, KnownShape> known_;
  KnownShape* last_ = nullptr;
};

// No argument has one value for each sample, and nothing is random.
bool has_constant_arguments(const StageCode& code);
// The geometry follows from the inputs' shapes, whatever the arguments are: nothing maps.
bool ignores_arguments(const StageCode& code);
// The node that convolves, where nothing else maps; -1: none.
int convolving_node(const StageCode& code);
// The node that filters height and width of images, before whatever else maps, and may know the windows of all samples
// (BoundOp::image_windows). `choices`: the arguments that the maps behind it follow from, beside extents. -1: none, or
// they follow from something else.
int resampling_node(const StageCode& code, std::vector<const Batch*>& choices);
// Leaves one window where all are the same.
void join_windows(AxisWindows& windows);
// Windows of weights that sum to 1, none so small that a kernel has to care: samples whose windows have the same sizes,
// and are all like that, have the same geometry but for the weights.
bool are_plain(const AxisWindows& windows);
bool are_plain(std::span<const float> weights, int size);  // windows of one size, one behind the other

}  // namespace penstock
