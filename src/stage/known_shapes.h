// SPDX-License-Identifier: Apache-2.0
// Geometry that is kept between calls, where it follows from the inputs' shapes, or from those and from the sizes of
// windows that samples are convolved with.
#pragma once
#include <algorithm>
#include <unordered_map>

#include "batch/batch.h"
#include "stage/geometry.h"

namespace penstock {

using WindowSizes = FixedVector<int, 3>;

struct ShapeKey {
  FixedVector<Shape, kMaxStageInputs> in;  // of dense inputs
  WindowSizes windows;                     // empty: those of constants
  bool is_of(std::span<const Batch> inputs, int sample, const WindowSizes& sizes) const;
};
uint64_t hash_of(std::span<const Batch> inputs, int sample, const WindowSizes& windows);

// `Known`: a ShapeKey, and what follows from it.
template <class Known> class KnownShapes {
 public:
  void begin_call() {
    if (known_.size() > kMost) known_.clear();
    last_ = nullptr;
  }
  Known* find(std::span<const Batch> inputs, int sample, const WindowSizes& windows) {
    if (last_ && last_->is_of(inputs, sample, windows)) return last_;
    const auto [begin, end] = known_.equal_range(hash_of(inputs, sample, windows));
    for (auto it = begin; it != end; ++it)
      if (it->second.is_of(inputs, sample, windows)) return last_ = &it->second;
    return nullptr;
  }
  Known& add(std::span<const Batch> inputs, int sample, const WindowSizes& windows) {
    Known& known = known_.emplace(hash_of(inputs, sample, windows), Known{})->second;
    known.windows = windows;
    for (const Batch& b : inputs) known.in.push_back(b.shape(sample));
    return known;
  }

 private:
  static constexpr size_t kMost = 4096;
  std::unordered_multimap<uint64_t, Known> known_;
  Known* last_ = nullptr;
};

}  // namespace penstock
