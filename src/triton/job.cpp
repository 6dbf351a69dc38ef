// SPDX-License-Identifier: Apache-2.0
#include "triton/job.h"

#include <algorithm>
#include <cstring>

#include "triton/element_types.h"
#include "triton/request_inputs.h"

namespace penstock::triton {

void* output_memory(TRITONBACKEND_Response* response, const TensorOfModel& t, DType type, int samples,
                    const Shape& shape) {
  if (server_type(type) != t.type && !(t.type == TRITONSERVER_TYPE_BYTES))
    bad_type("output '{}' is {}, but the configuration of the model says {}", t.name, name_of(type),
             config_name(t.type));
  std::vector<int64_t> extents{samples};
  extents.insert(extents.end(), shape.begin(), shape.end());
  if (shape.empty()) extents.push_back(1);
  TRITONBACKEND_Output* output = nullptr;
  check(TRITONBACKEND_ResponseOutput(response, &output, t.name.c_str(), server_type(type), extents.data(),
                                     static_cast<uint32_t>(extents.size())));
  void* data = nullptr;
  auto kind = TRITONSERVER_MEMORY_CPU;
  int64_t device = 0;
  const uint64_t bytes = static_cast<uint64_t>(samples) * static_cast<uint64_t>(shape.volume()) * size_of(type);
  check(TRITONBACKEND_OutputBuffer(output, &data, bytes, &kind, &device));
  if (kind == TRITONSERVER_MEMORY_GPU)
    bad_argument("output '{}' is to be written to memory of a GPU: use system shared memory", t.name);
  return data;
}

char* copy_range(const Batch& from, int first, int end, char* to) {
  for (int i = first; i < end; ++i) {
    const View v = from.view(i);
    View target = v;
    target.data = to, target.strides = dense_strides(v.shape);
    copy_strided(v, target);
    to += static_cast<size_t>(v.volume()) * size_of(v.dtype);
  }
  return to;
}

Job::Job(TRITONBACKEND_Request* request, const Signature& signature)
    : request_(request), signature_(signature), error_(nullptr, TRITONSERVER_ErrorDelete) {
  targets_.resize(signature.outputs.size());
  parts_.resize(signature.outputs.size());
  wanted_.assign(signature.outputs.size(), 1);
  attempt([&] {
    stop_if_cancelled();
    read_wanted();
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

void Job::begin_response() {
  TRITONBACKEND_Response* made = nullptr;
  check(TRITONBACKEND_ResponseNew(&made, request_));
  response_.reset(made);
}

void Job::begin_outputs() {
  begin_response();
  for (size_t k = 0; k < targets_.size(); ++k) {
    const TensorOfModel& t = signature_.outputs[k];
    if (!wanted_[k] || t.on_gpu || t.own.dtype == DType::none || !t.shape || !t.shape->known()) continue;
    auto* memory = static_cast<char*>(output_memory(response_.get(), t, t.own.dtype, samples(), *t.shape));
    const size_t each = static_cast<size_t>(t.shape->volume()) * size_of(t.own.dtype);
    Batch target(t.own.dtype, t.shape->size(), {}, samples());
    for (int i = 0; i < samples(); ++i) {
      target.sample(i).data = memory + static_cast<size_t>(i) * each;
      target.sample(i).shape = *t.shape;
    }
    targets_[k] = std::move(target);
  }
}

void Job::keep(size_t output, int first, Batch part) {
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
  auto* to = static_cast<char*>(output_memory(response_.get(), t, parts[0].dtype(), samples, shape));
  for (const Batch& part : parts) to = copy_range(part, 0, part.size(), to);
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
