// SPDX-License-Identifier: Apache-2.0
// Makes iterations of the samples that are ready, and of what the user has to be told.
#pragma once
#include <deque>

#include "exec/step_context.h"

namespace penstock {

class LateBatches {
 public:
  explicit LateBatches(const StepContext& context) : context_(context) {}
  // The first samples. None: it has ended, and only says what has left.
  std::shared_ptr<Iteration> take(std::deque<ReadySample>& ready, size_t size);
  std::shared_ptr<Iteration> failed(const Iteration& it);  // by which the user knows of the failure
  void drop(std::deque<ReadySample>& ready);

  std::vector<LeftOut> left_out;    // samples that no batch has told of yet
  std::vector<BroughtSample> left;  // those that are in no batch

 private:
  std::shared_ptr<Iteration> empty();

  const StepContext& context_;
  uint64_t batches_ = 0;
};

// An iteration with a place for each value.
std::shared_ptr<Iteration> make_iteration(const Plan& plan, const Graph& graph);

}  // namespace penstock
