// SPDX-License-Identifier: Apache-2.0
// Runs one operator immediately: the call under Python's fn.name(array), C++ and C.
#pragma once
#include <functional>
#include <optional>

#include "stage/program.h"

namespace penstock {

// For several samples, adds the sample's number to an error that has no file.
void name_sample(Error& e, int i, int n);

// Where a call runs.
struct CallPlace {
  int gpu = -1;                   // -1: the GPU of the first input that is on one, else the CPU
  StreamHandle stream = nullptr;  // of that GPU; null: one of the calling thread's own
  bool on_host = false;           // set by the call: the CPU did the work, and the results were copied to the GPU
};

// Of each sample: nothing, or why it could not be computed.
using SampleErrors = std::vector<std::optional<Error>>;
// Of each sample: nothing, or what its file lacks (DecodeTask::lacking).
using SampleLacks = std::vector<std::string>;
// Names the sample, one of n, in `lacks` or, if that is null, in a warning. Nothing if `lacking` is empty.
void tell_lacking(const std::string& source, int i, int n, const std::string& lacking, SampleLacks* lacks = nullptr);

// args[i] belongs to info.args[i]. `context` is that of the first sample. The inputs' layouts are
// those of the batches. Runs the samples on shared_pool() if there is enough work. into[k], if present, is
// the memory of output k (exec/call_into.h). On a GPU, `memory` is not used. Argument values on a GPU are
// copied to the host, which waits for them, unless they are in OpInfo::gpu_arguments and the call runs on that GPU.
// With `errors`, which gets one entry for each sample, a sample that fails does not end the call: it has no elements in
// the results, and its part of `into` is unspecified. Only on the CPU. `lacks` gets what would be warnings otherwise.
std::vector<Batch> call_op(const OpInfo& info, std::span<const Batch> inputs, std::span<const Argument> args,
                           const SampleContext& context = {},
                           const std::shared_ptr<MemoryResource>& memory = default_memory(), int batch_size = 1,
                           std::span<const Batch* const> into = {}, CallPlace* place = nullptr,
                           SampleErrors* errors = nullptr, SampleLacks* lacks = nullptr);

// The context of sample i of a call.
SampleContext of_sample(SampleContext call, int i);

// Memory for output k of StageProgram::sizes, for n samples.
Batch make_sizes(const StageProgram& program, int k, int n, const std::shared_ptr<MemoryResource>& memory);

// Parts of a call of the family "whole", for the executor: shapes of all outputs, then one sample.
// The result must live, as SampleContext::batch_state, until the last sample has run. A sample whose shapes throw an
// Error is passed to `refuse` and gets no elements; without `refuse` the error is thrown.
using ContextOf = std::function<SampleContext(int sample)>;
using RefuseSample = std::function<void(int sample, Error error)>;
std::shared_ptr<const void> run_whole_shapes(const BoundOp& op, std::span<const Batch> inputs,
                                             std::span<const ValueType> types, const ContextOf& context,
                                             std::vector<Batch>& out, const RefuseSample& refuse = {});
// BoundOp::draw_scalars into `out`, a dense batch of the operator's type; an error names the operator.
void draw_scalars(const BoundOp& op, std::span<const SampleContext> contexts, Batch& out);
// The same for all samples into `out`; false if the operator does not draw scalars.
bool draw_scalars(const BoundOp& op, std::span<const Batch> inputs, const ContextOf& context, std::vector<Batch>& out);
void run_whole_sample(const BoundOp& op, std::span<const Batch> inputs, std::span<const ValueType> types,
                      const SampleContext& context, std::vector<Batch>& out);

}  // namespace penstock
