// SPDX-License-Identifier: Apache-2.0
// Functions of the user's program inside of a pipeline: what stands behind a node of python_function or numba_function.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "exec/iteration.h"

namespace penstock {

struct CallRequest {
  std::span<const Batch> inputs;         // each of `size` samples
  std::span<const SampleOrigin> origin;  // of the samples
  int size = 0;
  std::vector<int> places;        // of the samples in the batch that the pipeline works on
  uint64_t trips_key = 0;         // of the loops around the call, for random numbers (Iteration::trips_key)
  StreamHandle stream = nullptr;  // of a call on a GPU: its inputs are there when this stream has passed
};

class Callback {
 public:
  virtual ~Callback() = default;
  // One batch per output, each of request.size samples. On a thread that belongs to the node alone: it may wait for
  // anything. `bad` takes samples whose data are at fault; what is given for them is not used.
  virtual std::vector<Batch> call(const CallRequest& request, std::vector<SampleError>& bad) = 0;
  virtual void cancel() {}  // ends a call that waits: the pipeline is closing
};

// A function that waits for nobody and locks nothing (numba_function): the threads of the pipeline run it themselves.
class CompiledCallback : public Callback {
 public:
  // The outputs with their shapes, without memory.
  virtual std::vector<Batch> shapes(const CallRequest& request) const = 0;
  virtual bool per_sample() const = 0;
  virtual void run_sample(const CallRequest& request, std::span<Batch> outputs, int sample) const = 0;
  virtual void run_batch(const CallRequest& request, std::span<Batch> outputs) const = 0;
};

}  // namespace penstock
