// SPDX-License-Identifier: Apache-2.0
// Results of immediate calls in the caller's memory.
#pragma once
#include <span>
#include <vector>

#include "operator/argument.h"

namespace penstock {

// Throws if `target` cannot hold `out`: element type, rank, number of samples.
void check_target(const Batch& out, const Batch& target);
// Gives sample i of `out`, whose shape is set, the memory of target's sample i; throws if that has another shape or
// holes.
void use_memory(Batch& out, const Batch& target, int i);
// The same for all samples, which may have holes.
void use_strided_memory(Batch& out, const Batch& target);
// The targets of a call on the CPU: operators write those that are row-major, the others are filled after the call.
class CallTargets {
 public:
  explicit CallTargets(std::span<const Batch* const> into);
  std::span<const Batch* const> direct() const { return direct_; }
  // Result k in the memory of into[k], for all k that operators did not write.
  void fill(std::vector<Batch>& results) const;

 private:
  std::span<const Batch* const> into_;
  std::vector<const Batch*> direct_;  // of `into`: null where the results come from new memory
};
// Memory of a sample, from its first byte to its last.
struct MemoryRange {
  const char *begin, *end;
  bool written;
};
// Of sample i. Throws if it is written and a stride of 0 puts several of its elements at one place.
MemoryRange range_of(const View& v, bool written, int i);
// True if something that is written is the memory of something else. With `gaps`, samples that are written may lie
// between each other's rows, as pictures of an atlas do: of these, those that begin at one place are found. Sorts the
// ranges.
bool overlap(std::span<MemoryRange> ranges, bool gaps);
// Throws if a sample of `into` shares memory with another one, with an input or with an argument: calls read
// while they write, on several threads.
void check_overlap(std::span<const Batch> inputs, std::span<const Argument> args, std::span<const Batch* const> into);

}  // namespace penstock
