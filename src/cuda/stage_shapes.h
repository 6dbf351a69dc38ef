// SPDX-License-Identifier: Apache-2.0
// What a stage keeps between calls where the geometry follows from the inputs' shapes.
#pragma once
#include <mutex>
#include <unordered_map>

#include "cuda/stage_geometry.h"

namespace penstock {

struct KnownShape {
  FixedVector<Shape, kMaxStageInputs> in;  // of dense inputs
  Shape out;
  std::vector<SampleGeometry> geometries;
  std::vector<PackedWords> packed;
};

class KnownShapes {
 public:
  std::mutex mutex;  // held by a call as long as it uses what find() and add() gave

  void begin_call() {
    if (known_.size() > kMost) known_.clear();
    last_ = nullptr;
  }
  KnownShape* find(std::span<const Batch> inputs, int sample);
  KnownShape& add(std::span<const Batch> inputs, int sample);

 private:
  static constexpr size_t kMost = 4096;
  std::unordered_multimap<uint64_t, KnownShape> known_;
  KnownShape* last_ = nullptr;
};

// No argument has one value for each sample, and nothing is random.
bool has_constant_arguments(const StageCode& code);
// The geometry follows from the inputs' shapes, whatever the arguments are: nothing maps.
bool ignores_arguments(const StageCode& code);

}  // namespace penstock
