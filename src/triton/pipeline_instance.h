// SPDX-License-Identifier: Apache-2.0
// Serves requests by a pipeline, one after the other: graphs that give other samples than they get, and videos.
#pragma once
#include "triton/job.h"
#include "triton/model.h"

namespace penstock::triton {

class PipelineInstance {
 public:
  PipelineInstance(const Model& model, int device)
      : model_(model), device_(device), pipeline_(model.pipeline(device)) {}
  // Computes and sends one request. True: it had no error.
  bool serve(Job& job);

 private:
  int64_t feed(const Job& job);  // returns the number of batches to run
  PipelineOutput next(const Job& job);
  void answer_at_once(Job& job);
  void answer_in_parts(Job& job);

  const Model& model_;
  const int device_;
  std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace penstock::triton
