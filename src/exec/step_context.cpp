// SPDX-License-Identifier: Apache-2.0
#include "exec/step_context.h"

#include "base/notice.h"
#include "graph/arrangement.h"

namespace penstock {

bool is_of_data(const Error& e) { return e.kind() == ErrorKind::data || e.kind() == ErrorKind::file_missing; }

std::shared_ptr<BoundOp> StepContext::bind(Iteration& it, const Node& n) const {
  const auto args = plan.graph.arguments(n, [&](ValueRef v) { return &it.values.at(v); });
  for (const auto& a : args)
    if (a.batch && a.batch->size() != it.size)
      bad_argument("a per-sample argument has {} values for {} samples", a.batch->size(), it.size);
  return bind_op(info_of(n), args);
}

void StepContext::fill_batch(Iteration& it) const {
  if (it.size > 0 || sources.primary() >= 0 || it.domain != 0 || !it.frames.empty()) return;
  it.size = it.taken = options.batch_size;
  it.origin.resize(it.size);
  const auto size = static_cast<uint64_t>(it.size);
  const uint64_t first =
      it.place ? static_cast<uint64_t>(it.place->batch) * size : sources.first_position + it.number * size;
  for (int i = 0; i < it.size; ++i) it.origin[i] = {.position = first + i, .number = i};
  sources.replays.set(it, options.batch_size);
  it.states[kNoSource] = std::to_string(first + it.size);
}

bool StepContext::has_record(ValueRef v) const { return names_files(plan.graph, v); }

const std::string& StepContext::path_of(const Iteration& it, ValueRef encoded, int i) const {
  if (has_record(encoded)) return it.values.at(encoded).sample(i).source;
  // What io.file.read reads in a pipeline has a name of its own, and so has what is made of it.
  const auto made = it.values.find(encoded);
  if (made == it.values.end() || i >= made->second.size()) return it.origin[i].path;
  const std::string& own = made->second.sample(i).source;
  return own.empty() ? it.origin[i].path : own;
}

std::shared_ptr<MemoryResource> StepContext::gpu_memory(Iteration& it, bool output) const {
  return output ? with_token(gpu->memory(), outputs.token(it)) : gpu->memory();
}

std::shared_ptr<MemoryResource> StepContext::pinned_memory(Iteration& it, bool output) const {
  return output ? with_token(gpu->pinned(), outputs.token(it)) : gpu->pinned();
}

const std::string& source_of(const StepContext& c, const Iteration& it, int i) {
  const Step& s = c.plan.steps[it.step];
  return s.inputs.empty() ? it.origin[i].path : c.path_of(it, s.inputs[0], i);
}

void name_sample(const StepContext& c, const Iteration& it, int i, Error& e) {
  if (e.source.empty()) e.source = source_of(c, it, i);
  if (e.source.empty()) e.source = fmt::format("sample {} of epoch {}", it.origin[i].position, it.origin[i].epoch);
}

void tell_lacking(const StepContext& c, const Iteration& it, int i, const std::string& lacking) {
  if (lacking.empty()) return;
  Error named(ErrorKind::data, lacking);
  name_sample(c, it, i, named);
  notice_of_sample(named.source + ": " + lacking);
}

void fail_iteration(Iteration& it, Error e, const Node* n) {
  if (n) {
    if (e.op.empty()) e.op = n->op;
    if (e.user_line.empty()) e.user_line = n->user_line;
  }
  it.failure = std::make_unique<Error>(std::move(e));
}

}  // namespace penstock
