// SPDX-License-Identifier: Apache-2.0
// How a plan divides if samples may come late: into steps that run on a few samples at a time, and those after them
// that run on whole batches.
#pragma once
#include <set>

#include "exec/pipeline_sources.h"
#include "graph/plan.h"

namespace penstock {

struct LatePlan {
  std::vector<char> of_samples, of_batches;  // by step; a source that loads nothing runs on neither
  size_t last_of_samples = 0;                // the last one
  std::set<ValueRef> crossing;               // what those of whole batches read, and the outputs
  std::set<ValueRef> pinned;                 // of them, those that are only copied to the GPU
};

// Error (argument), with the user's line, for what makes no sense where samples change their batch.
LatePlan late_plan(const Plan& plan, const PipelineOptions& options, const PipelineSources& sources);
// A feed that gives samples alone: known when the program has connected it.
void check_feeds(const Graph& graph, PipelineSources& sources);

}  // namespace penstock
