// SPDX-License-Identifier: Apache-2.0
// One request of an execution, from its inputs to its response.
#pragma once
#include <climits>
#include <memory>
#include <mutex>
#include <vector>

#include "batch/batch.h"
#include "triton/server_errors.h"
#include "triton/server_memory.h"
#include "triton/signature.h"

namespace penstock::triton {

struct ResponseDelete {
  void operator()(TRITONBACKEND_Response* r) const { ignore(TRITONBACKEND_ResponseDelete(r)); }
};
using ResponseHandle = std::unique_ptr<TRITONBACKEND_Response, ResponseDelete>;

class Job {
 public:
  // Reads the inputs. What is wrong with the request is kept.
  Job(TRITONBACKEND_Request* request, const Signature& signature);

  TRITONBACKEND_Request* request() const { return request_; }
  const std::vector<Batch>& inputs() const { return inputs_; }
  int samples() const { return inputs_.empty() ? 0 : inputs_[0].size(); }
  bool wants(size_t output) const { return wanted_[output]; }

  // Runs a part of the request's work; keeps what it throws, which then belongs to `sample`.
  template <class F> void attempt(F&& body, int sample = 0) noexcept {
    try {
      body();
    } catch (...) {
      fail(current_error(before()), sample);
    }
  }
  void fail(const Error& error, int sample);
  bool failed() const { return failed_at() < INT_MAX; }
  int failed_at() const;  // the first sample that has failed
  bool is_cancelled() const;
  void stop_if_cancelled();  // by an error

  void begin_response();
  // Memory in the response for outputs whose type and shape are known now: target(k) is over it, where it is on the
  // device that computes the output. Others have none. gpu: that of outputs on a GPU.
  void begin_outputs(int gpu);
  const Batch* target(size_t output) const { return targets_[output].size() ? &targets_[output] : nullptr; }
  // The results of samples first ... of an output without a target; they come to the host, unless the client wants
  // them on a GPU. Several threads may call it.
  void keep(size_t output, int first, const Batch& part);
  Batch placed(size_t output, const Batch& result) const;
  // Copies what was kept into the response.
  void finish_outputs();
  // The response, or the error: the end of the request.
  void send();

 private:
  std::string before() const;  // "request 'id': "
  void fail(TRITONSERVER_Error* error, int sample) noexcept;
  void read_wanted();
  void read_places();
  void finish_output(size_t k);

  TRITONBACKEND_Request* request_;
  const Signature& signature_;
  ResponseHandle response_;
  std::vector<Batch> inputs_, targets_;
  std::vector<OutputMemory> begun_;  // by output: in the response, but on another device than that of the results
  std::vector<char> wanted_, wanted_on_gpu_;
  std::vector<std::vector<Batch>> parts_;  // by output: each at the place of its first sample, others are empty
  mutable std::mutex mutex_;
  std::unique_ptr<TRITONSERVER_Error, void (*)(TRITONSERVER_Error*)> error_;
  int failed_at_ = INT_MAX;
};

}  // namespace penstock::triton
