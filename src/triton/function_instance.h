// SPDX-License-Identifier: Apache-2.0
// Serves requests by a function: samples on several threads, results straight into responses.
#pragma once
#include "base/thread_pool.h"
#include "triton/job.h"
#include "triton/model.h"

namespace penstock::triton {

class FunctionInstance {
 public:
  // gpu: where the function computes what it has on a GPU.
  FunctionInstance(Model& model, std::shared_ptr<const Function> function, int gpu);
  // Jobs that have not failed. Sends nothing.
  void run(std::span<const std::unique_ptr<Job>> jobs);

 private:
  // Samples of one request, for one thread: what fails there belongs to this request alone.
  struct Part {
    Job* job;
    int first, count;
    uint64_t number;  // of its first sample, for random operators
  };
  std::vector<Part> parts_of(std::span<const std::unique_ptr<Job>> jobs);
  void compute(const Part& part) const;

  Model& model_;
  const std::shared_ptr<const Function> function_;
  const int gpu_;
  ThreadPool pool_;
};

}  // namespace penstock::triton
