// SPDX-License-Identifier: Apache-2.0
#include "triton/pipeline_instance.h"

#include <map>

#include "batch/sample_lists.h"

namespace penstock::triton {
namespace {

struct FactoryDelete {
  void operator()(TRITONBACKEND_ResponseFactory* f) const { ignore(TRITONBACKEND_ResponseFactoryDelete(f)); }
};

bool have_one_shape(const std::vector<Batch>& outputs, int a, int b) {
  for (const Batch& o : outputs)
    if (!(o.shape(a) == o.shape(b))) return false;
  return true;
}

// One response with samples first to end of all outputs that the request wants.
void send_part(TRITONBACKEND_ResponseFactory* factory, const Job& job, const Signature& signature,
               const std::vector<Batch>& outputs, int first, int end) {
  TRITONBACKEND_Response* made = nullptr;
  check(TRITONBACKEND_ResponseNewFromFactory(&made, factory));
  ResponseHandle response(made);
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!job.wants(k)) continue;
    const Batch& from = outputs[k];
    const Shape& shape = from.shape(first);
    const auto to = output_memory(made, signature.outputs[k], from.dtype(), end - first, shape, from.device());
    write_samples(from, first, end, to);
  }
  check(TRITONBACKEND_ResponseSend(response.release(), 0, nullptr));
}

}  // namespace

int64_t PipelineInstance::feed(const Job& job) {
  const auto& inputs = model_.signature().inputs;
  std::map<int, std::vector<Batch>> batches;  // by source
  for (size_t k = 0; k < inputs.size(); ++k) batches[inputs[k].node].push_back(job.inputs()[k]);
  if (model_.signature().takes_videos() && job.samples() != 1)
    bad_argument("a request has one video, not {}", job.samples());
  if (!model_.signature().takes_videos() && job.samples() > pipeline_->options().batch_size)
    bad_argument("a request has at most {} samples, not {}", pipeline_->options().batch_size, job.samples());
  int64_t runs = 1;
  for (auto& [node, given] : batches) runs = std::max(runs, pipeline_->feed(node, std::move(given)));
  return runs;
}

PipelineOutput PipelineInstance::next(const Job& job) {
  PipelineOutput out = pipeline_->run([&] {
    if (job.is_cancelled()) throw Error(ErrorKind::cancelled, "the client has cancelled the request");
  });
  for (size_t k = 0; k < out.batches.size(); ++k) out.batches[k] = job.placed(k, out.batches[k]);
  return out;
}

void PipelineInstance::answer_at_once(Job& job) {
  const int64_t runs = feed(job);
  int at = 0;
  for (int64_t i = 0; i < runs; ++i) {
    PipelineOutput out = next(job);
    for (size_t k = 0; k < out.batches.size(); ++k) job.keep(k, at, out.batches[k]);
    at += out.batches.at(0).size();
  }
  job.begin_response();
  job.finish_outputs();
}

void PipelineInstance::answer_in_parts(Job& job) {
  TRITONBACKEND_ResponseFactory* made = nullptr;
  check(TRITONBACKEND_ResponseFactoryNew(&made, job.request()));
  const std::unique_ptr<TRITONBACKEND_ResponseFactory, FactoryDelete> factory(made);
  const int64_t runs = feed(job);
  for (int64_t i = 0; i < runs; ++i) {
    const auto outputs = next(job).batches;
    const int size = outputs.at(0).size();
    for (int first = 0, end = 0; first < size; first = end) {
      while (end < size && have_one_shape(outputs, first, end)) ++end;
      send_part(made, job, model_.signature(), outputs, first, end);
    }
  }
  check(TRITONBACKEND_ResponseFactorySendFlags(made, TRITONSERVER_RESPONSE_COMPLETE_FINAL));
}

bool PipelineInstance::serve(Job& job) {
  if (!job.failed())
    job.attempt([&] {
      if (!pipeline_) pipeline_ = model_.pipeline(device_);
      model_.decoupled() ? answer_in_parts(job) : answer_at_once(job);
    });
  // Whatever it was fed, a pipeline that has failed may still hold some of it.
  if (job.failed()) pipeline_.reset();
  if (job.failed() || !model_.decoupled()) job.send();
  return !job.failed();
}

}  // namespace penstock::triton
