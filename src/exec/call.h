// SPDX-License-Identifier: Apache-2.0
// One operator, now: the immediate call under Python's fn.name(array), C++ and C.
#pragma once
#include <functional>

#include "ops/machine/stage_program.h"

namespace penstock {

// args[i] belongs to info.args[i]. `node` numbers calls for random operators (SampleContext). The inputs' layouts are
// those of the batches. Runs the samples on shared_pool() when the work is worth it. into[k], where there is one, gives the
// memory of output k (exec/call_into.h).
std::vector<Batch> call_op(const OpInfo& info, std::span<const Batch> inputs, std::span<const Argument> args,
                           const SampleContext& context = {},
                           const std::shared_ptr<MemoryResource>& memory = default_memory(), int batch_size = 1,
                           std::span<const Batch* const> into = {});

// The bytes of an encoded file that a sample holds; throws where the sample is something else.
std::span<const uint8_t> encoded_bytes(const View& v);

// Memory for output k of StageProgram::sizes of n samples.
Batch make_sizes(const StageProgram& program, int k, int n, const std::shared_ptr<MemoryResource>& memory);

// Parts of a call of the family "whole", for the executor: shapes of all outputs, then one sample.
// The result must live, as SampleContext::batch_state, until the last sample has run.
using ContextOf = std::function<SampleContext(int sample)>;
std::shared_ptr<const void> run_whole_shapes(const BoundOp& op, std::span<const Batch> inputs,
                                             std::span<const ValueType> types, const ContextOf& context,
                                             std::vector<Batch>& out);
void run_whole_sample(const BoundOp& op, std::span<const Batch> inputs, std::span<const ValueType> types,
                      const SampleContext& context, std::vector<Batch>& out);

}  // namespace penstock
