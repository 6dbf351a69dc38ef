// SPDX-License-Identifier: Apache-2.0
// A version of a model: its graph, its signature, and what its instances share.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "exec/pipeline.h"
#include "function/function.h"
#include "triton/signature.h"

namespace penstock::triton {

class Model {
 public:
  // Reads the model's file and completes its configuration.
  explicit Model(TRITONBACKEND_Model* model);

  const Signature& signature() const { return signature_; }
  int threads() const { return threads_; }            // of an instance
  int most_samples() const { return most_samples_; }  // of a batch
  bool decoupled() const { return decoupled_; }

  // Null for a graph that is no function: it has other samples than it got, or takes videos. device: of a GPU, -1: the
  // saved one.
  std::shared_ptr<const Function> function(int device);
  std::unique_ptr<Pipeline> pipeline(int device) const;
  int gpu_of(int device) const;  // the GPU of function(device)
  // Whether a sample's result depends on the others of its call.
  bool mixes_samples() const { return mixes_samples_; }
  // Numbers of samples for random operators: no two samples of a model draw the same.
  uint64_t take_numbers(int samples) { return next_sample_.fetch_add(static_cast<uint64_t>(samples)); }

 private:
  void read(TRITONBACKEND_Model* model, const nlohmann::json& config);
  void take_settings(const nlohmann::json& config);

  std::string text_, path_;
  Signature signature_;
  int threads_ = 0, most_samples_ = 0;
  bool decoupled_ = false, is_function_ = false, mixes_samples_ = false;
  std::atomic<uint64_t> next_sample_{0};
  std::mutex mutex_;
  std::map<int, std::shared_ptr<const Function>> functions_;  // by device
};

}  // namespace penstock::triton
