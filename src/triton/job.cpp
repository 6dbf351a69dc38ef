// SPDX-License-Identifier: Apache-2.0
#include "triton/job.h"

#include <algorithm>

#include "batch/transfer.h"
#include "triton/request_inputs.h"

namespace penstock::triton {

Job::Job(TRITONBACKEND_Request* request, const Signature& signature)
    : request_(request), signature_(signature), error_(nullptr, TRITONSERVER_ErrorDelete) {
  targets_.resize(signature.outputs.size());
  parts_.resize(signature.outputs.size());
  begun_.resize(signature.outputs.size());
  wanted_on_gpu_.assign(signature.outputs.size(), 0);
  wanted_.assign(signature.outputs.size(), 1);
  attempt([&] {
    stop_if_cancelled();
    read_wanted();
    read_places();
    inputs_ = request_inputs(request, signature);
  });
}

std::string Job::before() const {
  const char* id = nullptr;
  ignore(TRITONBACKEND_RequestId(request_, &id));
  return id && *id ? "request '" + std::string(id) + "': " : std::string();
}

void Job::fail(TRITONSERVER_Error* error, int sample) noexcept {
  const std::lock_guard lock(mutex_);
  if (sample >= failed_at_) return TRITONSERVER_ErrorDelete(error);
  error_.reset(error);
  failed_at_ = sample;
}

void Job::fail(const Error& error, int sample) {
  fail(TRITONSERVER_ErrorNew(code_of(error.kind()), (before() + error.full_message()).c_str()), sample);
}

int Job::failed_at() const {
  const std::lock_guard lock(mutex_);
  return failed_at_;
}

bool Job::is_cancelled() const {
  bool cancelled = false;
  if (TRITONBACKEND_RequestIsCancelled) ignore(TRITONBACKEND_RequestIsCancelled(request_, &cancelled));
  return cancelled;
}

void Job::stop_if_cancelled() {
  if (is_cancelled()) throw Error(ErrorKind::cancelled, "the client has cancelled the request");
}

void Job::read_wanted() {
  uint32_t count = 0;
  check(TRITONBACKEND_RequestOutputCount(request_, &count));
  if (count == 0) return;  // all
  std::fill(wanted_.begin(), wanted_.end(), 0);
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    check(TRITONBACKEND_RequestOutputName(request_, i, &name));
    for (size_t k = 0; k < wanted_.size(); ++k) wanted_[k] |= signature_.outputs[k].name == name;
  }
}

void Job::read_places() {
  if (!TRITONBACKEND_RequestOutputBufferProperties) return;
  for (size_t k = 0; k < wanted_.size(); ++k) {
    if (!wanted_[k] || !signature_.outputs[k].on_gpu) continue;
    auto kind = TRITONSERVER_MEMORY_CPU;
    int64_t device = 0;
    const char* name = signature_.outputs[k].name.c_str();
    TRITONSERVER_Error* error = TRITONBACKEND_RequestOutputBufferProperties(request_, name, nullptr, &kind, &device);
    wanted_on_gpu_[k] = !error && kind == TRITONSERVER_MEMORY_GPU;
    ignore(error);
  }
}

void Job::begin_response() {
  TRITONBACKEND_Response* made = nullptr;
  check(TRITONBACKEND_ResponseNew(&made, request_));
  response_.reset(made);
}

void Job::begin_outputs(int gpu) {
  begin_response();
  for (size_t k = 0; k < targets_.size(); ++k) {
    const TensorOfModel& t = signature_.outputs[k];
    if (!wanted_[k] || (t.on_gpu && !wanted_on_gpu_[k]) || t.own.dtype == DType::none || !t.shape || !t.shape->known())
      continue;
    const Device own = t.on_gpu ? Device{DeviceKind::gpu, static_cast<int16_t>(gpu)} : Device{};
    const OutputMemory memory = output_memory(response_.get(), t, t.own.dtype, samples(), *t.shape, own);
    if (memory.device != own) {
      begun_[k] = memory;
      continue;
    }
    const size_t each = static_cast<size_t>(t.shape->volume()) * size_of(t.own.dtype);
    Batch target(t.own.dtype, t.shape->size(), {}, samples());
    target.set_device(own);
    for (int i = 0; i < samples(); ++i) {
      target.sample(i).data = memory.data + static_cast<size_t>(i) * each;
      target.sample(i).shape = *t.shape;
    }
    targets_[k] = std::move(target);
  }
}

Batch Job::placed(size_t output, const Batch& result) const {
  return wanted_on_gpu_[output] ? result : on_host(result);
}

void Job::keep(size_t output, int first, const Batch& given) {
  Batch part = placed(output, given);
  const std::lock_guard lock(mutex_);
  auto& all = parts_[output];
  const size_t end = static_cast<size_t>(first) + 1;
  if (all.size() < end) all.resize(end);
  all[static_cast<size_t>(first)] = std::move(part);
}

void Job::finish_output(size_t k) {
  const TensorOfModel& t = signature_.outputs[k];
  auto& parts = parts_[k];
  std::erase_if(parts, [](const Batch& part) { return part.size() == 0; });
  if (parts.empty()) bad_data("output '{}': the pipeline has left out every sample of the request", t.name);
  const Shape shape = parts[0].shape(0);
  int samples = 0;
  for (const Batch& part : parts)
    for (int i = 0; i < part.size(); ++i, ++samples)
      if (!(part.shape(i) == shape))
        bad_argument(
            "output '{}': sample {} has the shape {}, but sample 0 has {}: a response is one array; send these "
            "in requests of their own, or let the pipeline give them one size (fn.resize, fn.pad)",
            t.name, samples, part.shape(i).text(), shape.text());
  OutputMemory to = begun_[k];
  if (!to.data) to = output_memory(response_.get(), t, parts[0].dtype(), samples, shape, parts[0].device());
  const size_t each = static_cast<size_t>(shape.volume()) * size_of(parts[0].dtype());
  for (const Batch& part : parts) {
    write_samples(part, 0, part.size(), to);
    to.data += static_cast<size_t>(part.size()) * each;
  }
}

void Job::finish_outputs() {
  for (size_t k = 0; k < targets_.size(); ++k)
    if (wanted_[k] && !target(k)) finish_output(k);
}

void Job::send() {
  if (!response_) attempt([&] { begin_response(); });
  if (!response_) return;  // the server has no memory for an answer
  ignore(TRITONBACKEND_ResponseSend(response_.release(), TRITONSERVER_RESPONSE_COMPLETE_FINAL, error_.get()));
}

}  // namespace penstock::triton
