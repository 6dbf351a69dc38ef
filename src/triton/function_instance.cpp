// SPDX-License-Identifier: Apache-2.0
#include "triton/function_instance.h"

#include <algorithm>

#include "batch/transfer.h"

namespace penstock::triton {
namespace {

Batch range_of(const Batch& from, int first, int count) {
  Batch part(from.dtype(), from.ndim(), from.layout(), count);
  part.set_device(from.device());
  part.block = from.block;
  for (int i = 0; i < count; ++i) part.sample(i) = from.sample(first + i);
  return part;
}

}  // namespace

FunctionInstance::FunctionInstance(Model& model, std::shared_ptr<const Function> function, int gpu)
    : model_(model), function_(std::move(function)), gpu_(gpu), pool_(model.threads()) {}

// Small parts, so that threads end together; large enough that a part's own cost does not count.
std::vector<FunctionInstance::Part> FunctionInstance::parts_of(std::span<const std::unique_ptr<Job>> jobs) {
  int samples = 0;
  for (const auto& job : jobs) samples += job->samples();
  const int most = std::clamp(samples / (4 * pool_.size()), 1, 8);
  std::vector<Part> parts;
  for (const auto& job : jobs) {
    if (job->failed()) continue;
    const int size = model_.mixes_samples() ? job->samples() : most;
    const uint64_t number = model_.take_numbers(job->samples());
    for (int first = 0; first < job->samples(); first += size)
      parts.push_back(
          {job.get(), first, std::min(size, job->samples() - first), number + static_cast<uint64_t>(first)});
  }
  return parts;
}

void FunctionInstance::run(std::span<const std::unique_ptr<Job>> jobs) {
  for (const auto& job : jobs)
    if (!job->failed()) job->attempt([&] { job->begin_outputs(gpu_); });
  const auto parts = parts_of(jobs);
  pool_.parallel_for(static_cast<int64_t>(parts.size()), [&](int64_t i, int) {
    const Part& part = parts[static_cast<size_t>(i)];
    if (part.job->failed_at() < part.first) return;  // the request has its error
    part.job->attempt([&] { part.job->stop_if_cancelled(), compute(part); }, part.first);
  });
  for (const auto& job : jobs)
    if (!job->failed()) job->attempt([&] { job->finish_outputs(); });
}

void FunctionInstance::compute(const Part& part) const {
  Job& job = *part.job;
  std::vector<Batch> inputs, targets(function_->outputs().size()), results(targets.size());
  std::vector<const Batch*> given, into(targets.size());
  for (const Batch& b : job.inputs()) inputs.push_back(range_of(b, part.first, part.count));
  for (const Batch& b : inputs) given.push_back(&b);
  for (size_t k = 0; k < targets.size(); ++k)
    if (const Batch* target = job.target(k))
      targets[k] = range_of(*target, part.first, part.count), into[k] = &targets[k];
  std::vector<std::optional<Error>> errors;
  FunctionCall call;
  call.inputs = given, call.into = into, call.first_sample = part.number, call.errors = &errors;
  function_->call(call, results);
  const auto is_on_gpu = [](const Batch& b) { return b.device().kind == DeviceKind::gpu; };
  if (std::any_of(targets.begin(), targets.end(), is_on_gpu)) runtime_of(gpu_).synchronize(gpu_, thread_stream(gpu_));
  bool failed = false;
  for (size_t i = 0; i < errors.size(); ++i)
    if (errors[i]) job.fail(*errors[i], part.first + static_cast<int>(i)), failed = true;
  for (size_t k = 0; k < results.size() && !failed; ++k)
    if (job.wants(k) && !into[k]) job.keep(k, part.first, results[k]);
}

}  // namespace penstock::triton
