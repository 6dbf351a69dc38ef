// SPDX-License-Identifier: Apache-2.0
// What an iteration is where samples may come late (docs/decisions/0045): it brings samples, it makes a few of them, or
// it is a batch of those that are ready.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace penstock {

struct Iteration;

// Sample `place` of what iteration `brought` was given by the sources.
struct BroughtSample {
  uint64_t brought = 0;
  int place = 0;
  uint64_t epoch = 0;
};

// A sample that is ready: of the iteration that made it.
struct ReadySample {
  std::shared_ptr<Iteration> of;
  int index = 0;
};

struct LatePart {
  enum class Kind { bringing, samples, batch };
  explicit LatePart(Kind k) : kind(k) {}

  const Kind kind;
  std::vector<BroughtSample> members;  // also those that have left
  uint64_t epoch_key = 0;              // samples: which epoch of the pool they belong to
  std::vector<ReadySample> ready;      // batch: until they are gathered
  bool gathering = false;              // batch: its current step is to gather them
};

}  // namespace penstock
