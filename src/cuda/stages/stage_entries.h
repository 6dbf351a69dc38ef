// SPDX-License-Identifier: Apache-2.0
// The samples of a call as its table will have them: all together where they are alike, else one by one.
#pragma once
#include <optional>

#include "cuda/stages/stage_scratchpad.h"
#include "device/batch_stage.h"

namespace penstock {

// How the samples of a batch may be looked at, which follows from a stage's operators and their arguments.
struct StageArguments {
  explicit StageArguments(const StageCode& code);
  bool constant;                      // arguments are
  bool knows_shapes;                  // the geometry follows from them
  bool folds;                         // arguments lie on the GPU
  bool random;                        // an operator looks at more of a sample than its index
  int convolves;                      // the node whose windows the geometry follows from, beside shapes; -1: none
  std::vector<const Batch*> choices;  // numbers that the maps behind `resamples` follow from, but for extents
  int resamples;                      // the node that may know all images' windows at once; -1: none
};

class StageEntries {
 public:
  // Of one call. Fills pad.entries, or pad.run, and what they refer to.
  StageEntries(const StageCode& code, const StageArguments& arguments, const BatchStageCall& call, StageScratchpad& pad)
      : code_(code), arguments_(arguments), call_(call), pad_(pad) {}

  // All samples at once, as pad.run; the shape of all outputs. Null: they have to be looked at one by one.
  const Shape* add_together();
  // After that. The shapes of `out`, and its samples' entries; all have `ndim` dimensions. Samples that cannot be are
  // added to `errors`, those whose shape is not known to `bad`, too.
  void add_all(Batch& out, int& ndim, std::vector<SampleError>& errors, std::vector<int>& bad);
  // The entries again, without a form.
  void add_the_long_way();

 private:
  void begin();
  void make_contexts();
  std::span<const SampleContext> contexts_of(const StageNode& node);
  void make_windows();
  StageEntry& add_entry(int i, const SampleGeometry& g, PackedWords* packed);
  void set_run(const SampleGeometry& g, PackedWords* packed, int window);
  const Shape* add_uniform();
  void add_known_shape(int i, KnownShape& known, int windows, bool same_windows);
  int add_known(int i, Batch& out);
  const Shape* add_alike();
  bool add_alike_samples();
  void add_alike_entry(int i);
  bool has_plain_windows(int i);
  bool add_sample(int i, Shape& shape);
  bool add_unknown(int i, Shape& shape);
  size_t add_geometries(int i, Shape& shape);

  const StageCode& code_;
  const StageArguments& arguments_;
  const BatchStageCall& call_;
  StageScratchpad& pad_;
  std::optional<StageGeometry> geometry_;  // made for the first sample that is not known yet
  std::optional<Placement> placement_;     // of a sample
};

}  // namespace penstock
