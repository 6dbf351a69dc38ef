// SPDX-License-Identifier: Apache-2.0
// What the geometry of a stage's samples follows from: its operators and their arguments say it.
#pragma once
#include <vector>

#include "batch/batch.h"
#include "stage/code.h"

namespace penstock {

// No argument has one value for each sample, and nothing is random.
bool has_constant_arguments(const StageCode& code);
// The geometry follows from the inputs' shapes, whatever the arguments are: nothing maps.
bool ignores_arguments(const StageCode& code);
// The node that convolves, where nothing else maps; -1: none.
int convolving_node(const StageCode& code);
// The node that filters height and width of images, before whatever else maps, and may know the windows of all samples
// (BoundOp::image_windows). `choices`: the arguments that the maps after it follow from, beside extents. -1: none, or
// they follow from something else.
int resampling_node(const StageCode& code, std::vector<const Batch*>& choices);

// One number a sample.
inline int64_t number_of(const Batch& b, int sample) {
  return b.dtype() == DType::int32 ? *static_cast<const int32_t*>(b.sample(sample).data)
                                   : sample_as<int64_t>(b, sample);
}

// How the samples of a batch may be looked at.
struct BatchArguments {
  explicit BatchArguments(const StageCode& code);
  bool constant;                      // arguments are
  bool knows_shapes;                  // the geometry follows from them
  bool random;                        // an operator looks at more of a sample than its index
  int convolves;                      // the node whose windows the geometry follows from, beside shapes; -1: none
  std::vector<const Batch*> choices;  // numbers that the maps after `resamples` follow from, but for extents
  int resamples;                      // the node that may know all images' windows at once; -1: none
};

}  // namespace penstock
