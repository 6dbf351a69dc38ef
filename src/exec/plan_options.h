// SPDX-License-Identifier: Apache-2.0
// What a pipeline's GPU offers to its plan.
#pragma once
#include <map>
#include <memory>

#include "device/batch_decoder.h"
#include "exec/pipeline.h"
#include "graph/plan.h"

namespace penstock {

using Engines = std::map<int, std::unique_ptr<BatchDecoder>>;  // by node that a GPU decodes for

// With a GPU where an operator asks for one and the machine has one; decoders run on the CPU. Error (argument) for a
// GPU that is required (PENSTOCK_REQUIRE_GPU) or named but not there.
PlanOptions plan_options(const Graph& g, int device);
// The same, with the decoders of a pipeline's GPU.
PlanOptions plan_options(const Graph& g, const PipelineOptions& o, Engines& engines);
// Iterations that are in flight at most: the prefetch, or more where a decoder wants them. readers: all sources are
// some. What a program feeds is requested as far ahead as it was told; readers may run further.
int depth_of(const PipelineOptions& o, const Engines& engines, bool readers);

}  // namespace penstock
