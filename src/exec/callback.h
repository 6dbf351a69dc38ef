// SPDX-License-Identifier: Apache-2.0
// Functions of the user's program in a pipeline: the implementation of a python_function or numba_function node.
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
  std::vector<int> places;        // of the samples in the pipeline's batch
  uint64_t trips_key = 0;         // of the loops around the call, for random numbers (Iteration::trips_key)
  StreamHandle stream = nullptr;  // for a call on a GPU: its inputs are ready when this stream has passed
};

class Callback {
 public:
  virtual ~Callback() = default;
  // One batch per output, each of request.size samples. Runs on a thread of the node's own, so it may wait for
  // anything. `bad` receives samples with faulty data; their results are ignored.
  virtual std::vector<Batch> call(const CallRequest& request, std::vector<SampleError>& bad) = 0;
  virtual void cancel() {}  // wakes a waiting call: the pipeline is closing
};

// A function that neither waits nor locks (numba_function): the threads of the pipeline run it themselves.
class CompiledCallback : public Callback {
 public:
  // The outputs with their shapes, without memory.
  virtual std::vector<Batch> shapes(const CallRequest& request) const = 0;
  virtual bool per_sample() const = 0;
  virtual void run_sample(const CallRequest& request, std::span<Batch> outputs, int sample) const = 0;
  virtual void run_batch(const CallRequest& request, std::span<Batch> outputs) const = 0;
};

}  // namespace penstock
