// SPDX-License-Identifier: Apache-2.0
// The functions that a Triton server calls.
#include <chrono>

#include "penstock/penstock.h"
#include "triton/function_instance.h"
#include "triton/pipeline_instance.h"

#define PENSTOCK_EXPORT extern "C" __attribute__((visibility("default")))

namespace penstock::triton {
namespace {

uint64_t now() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

struct Times {
  uint64_t begin = now(), compute_begin = 0, compute_end = 0;
};

class Instance {
 public:
  Instance(TRITONBACKEND_ModelInstance* handle, Model& model) : handle_(handle), model_(model) {
    TRITONSERVER_InstanceGroupKind kind{};
    check(TRITONBACKEND_ModelInstanceKind(handle, &kind));
    int32_t device = -1;
    if (kind == TRITONSERVER_INSTANCEGROUPKIND_GPU) check(TRITONBACKEND_ModelInstanceDeviceId(handle, &device));
    if (auto function = model.function(device))
      function_ = std::make_unique<FunctionInstance>(model, std::move(function), model.gpu_of(device));
    else pipeline_ = std::make_unique<PipelineInstance>(model, device);
  }

  // Answers and releases all requests.
  void execute(TRITONBACKEND_Request** requests, uint32_t count) {
    Times times;
    std::vector<std::unique_ptr<Job>> jobs;
    for (uint32_t i = 0; i < count; ++i) jobs.push_back(std::make_unique<Job>(requests[i], model_.signature()));
    times.compute_begin = now();
    if (function_) function_->run(jobs);
    else
      for (const auto& job : jobs) pipeline_->serve(*job);
    times.compute_end = now();
    uint64_t samples = 0;
    for (auto& job : jobs) {
      if (function_) job->send();
      if (!job->failed()) samples += static_cast<uint64_t>(job->samples());
      finish(*job, times);
    }
    if (samples > 0)
      ignore(TRITONBACKEND_ModelInstanceReportBatchStatistics(handle_, samples, times.begin, times.compute_begin,
                                                              times.compute_end, now()));
  }

 private:
  void finish(const Job& job, const Times& t) {
    ignore(TRITONBACKEND_ModelInstanceReportStatistics(handle_, job.request(), !job.failed(), t.begin, t.compute_begin,
                                                       t.compute_end, now()));
    ignore(TRITONBACKEND_RequestRelease(job.request(), TRITONSERVER_REQUEST_RELEASE_ALL));
  }

  TRITONBACKEND_ModelInstance* handle_;
  Model& model_;
  std::unique_ptr<FunctionInstance> function_;  // or
  std::unique_ptr<PipelineInstance> pipeline_;
};

Model& model_of(TRITONBACKEND_Model* model) {
  void* state = nullptr;
  check(TRITONBACKEND_ModelState(model, &state));
  return *static_cast<Model*>(state);
}

}  // namespace
}  // namespace penstock::triton

using namespace penstock::triton;

PENSTOCK_EXPORT TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend*) {
  return guarded([] {
    uint32_t major = 0, minor = 0;
    check(TRITONBACKEND_ApiVersion(&major, &minor));
    if (major != 1)
      throw ServerError(TRITONSERVER_ERROR_UNSUPPORTED,
                        "Penstock's backend is for version 1 of the backend API, but the server has version " +
                            std::to_string(major));
    const std::string text = std::string("Penstock ") + penstock_version();
    ignore(TRITONSERVER_LogMessage(TRITONSERVER_LOG_INFO, "backend.cpp", 0, text.c_str()));
  });
}

PENSTOCK_EXPORT TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return guarded([&] {
    auto made = std::make_unique<Model>(model);
    check(TRITONBACKEND_ModelSetState(model, made.get()));
    made.release();
  });
}

PENSTOCK_EXPORT TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return guarded([&] {
    void* state = nullptr;
    check(TRITONBACKEND_ModelState(model, &state));
    delete static_cast<Model*>(state);
  });
}

PENSTOCK_EXPORT TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return guarded([&] {
    TRITONBACKEND_Model* model = nullptr;
    check(TRITONBACKEND_ModelInstanceModel(instance, &model));
    auto made = std::make_unique<Instance>(instance, model_of(model));
    check(TRITONBACKEND_ModelInstanceSetState(instance, made.get()));
    made.release();
  });
}

PENSTOCK_EXPORT TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return guarded([&] {
    void* state = nullptr;
    check(TRITONBACKEND_ModelInstanceState(instance, &state));
    delete static_cast<Instance*>(state);
  });
}

// An error that is returned leaves the requests with the server; so this returns none after it has begun to answer.
PENSTOCK_EXPORT TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                                       TRITONBACKEND_Request** requests,
                                                                       const uint32_t count) {
  void* state = nullptr;
  if (TRITONSERVER_Error* error = TRITONBACKEND_ModelInstanceState(instance, &state)) return error;
  return guarded([&] { static_cast<Instance*>(state)->execute(requests, count); });
}
