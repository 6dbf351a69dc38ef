// SPDX-License-Identifier: Apache-2.0
#include "function/function_run.h"
#include "function/renew.h"

#include <algorithm>
#include <numeric>

#include "batch/sample_lists.h"
#include "batch/transfer.h"
#include "exec/call.h"
#include "graph/at_fault.h"

namespace penstock {
namespace {

bool is_of_data(const Error& e) { return e.kind() == ErrorKind::data || e.kind() == ErrorKind::file_missing; }

// The batch without what owns its memory, which the caller keeps during the call. Layouts are settled by the graph.
void lend(const Batch& from, const Layout& layout, Batch& to) {
  renew(to, from.dtype(), from.ndim(), layout.empty() ? from.layout() : layout, from.size());
  for (int i = 0; i < from.size(); ++i) {
    const Batch::Sample& s = from.sample(i);
    Batch::Sample& lent = to.sample(i);
    lent.data = s.data, lent.shape = s.shape, lent.strides = s.strides;
    if (!s.source.empty()) lent.source = s.source;
  }
}

}  // namespace

void FunctionRun::run() {
  check_call();
  check_recording();
  take_inputs();
  check_memory();
  if (f_.compiled_.has_control) return run_each();
  for (size_t i = 0; i < f_.compiled_.steps.size() && size_ > 0; ++i) {
    run_step(i);
    drop_failed();
  }
  give_results();
  leave_gpu();
}

void FunctionRun::check_call() {
  if (call_.inputs.size() != f_.inputs_.size())
    bad_argument("the function takes {} inputs, got {}", f_.inputs_.size(), call_.inputs.size());
  if (results_.size() != f_.outputs_.size())
    bad_argument("the function has {} outputs, but the caller has room for {}", f_.outputs_.size(), results_.size());
  if (!call_.into.empty() && call_.into.size() != f_.outputs_.size())
    bad_argument("the function has {} outputs, but there is memory for {}: give a batch, or nothing, for each",
                 f_.outputs_.size(), call_.into.size());
}

void FunctionRun::take_inputs() {
  samples_ = call_.inputs.empty() ? std::max(1, call_.size) : call_.inputs[0]->size();
  if (samples_ == 0) bad_argument("the input '{}' has no samples", f_.inputs_[0].name);
  for (size_t k = 0; k < call_.inputs.size(); ++k) {
    try {
      take_input(k);
    } catch (Error& e) {
      Error named(e.kind(), fmt::format("the input '{}' {}", f_.inputs_[k].name, e.what()));
      throw named;
    }
  }
  size_ = samples_;
  frame_.numbers.resize(static_cast<size_t>(size_));
  std::iota(frame_.numbers.begin(), frame_.numbers.end(), 0);
  frame_.failed.assign(static_cast<size_t>(size_), 0);
  frame_.written.assign(f_.outputs_.size(), 0);
  if (call_.errors) call_.errors->assign(static_cast<size_t>(size_), std::nullopt);
  if (call_.lacks) call_.lacks->assign(static_cast<size_t>(size_), {});
}

void FunctionRun::take_input(size_t k) {
  const Batch& given = *call_.inputs[k];
  const ValueType& t = f_.inputs_[k].type;
  if (given.size() != samples_)
    bad_argument("has {} samples, but '{}' has {}", given.size(), f_.inputs_[0].name, samples_);
  if (t.dtype != DType::none && t.dtype != given.dtype())
    bad_type("is {}, but dtype={} was declared", name_of(given.dtype()), name_of(t.dtype));
  if (t.ndim >= 0 && t.ndim != given.ndim())
    bad_type("has samples of {} dimensions, but {} were declared", given.ndim(), t.ndim);
  const int slot = f_.compiled_.inputs[k];
  if (slot < 0) return;
  lend(given, t.layout, value(slot));
  if (f_.compiled_.input_on_gpu[k]) return take_gpu_input(given, value(slot));
  if (given.device().kind == DeviceKind::gpu)
    bad_argument("is on {}: set device='gpu' where the source is created", name_of(given.device()));
  wait_on_host(given);
}

void FunctionRun::run_step(size_t i) {
  const Step& s = *f_.compiled_.steps[i].step;
  errors_.clear();
  try {
    switch (s.kind) {
      case Step::Kind::stage: s.gpu ? run_gpu_stage(i) : run_stage(i); break;
      case Step::Kind::whole: run_whole(i); break;
      case Step::Kind::transfer: run_transfer(i); break;
      default: break;  // a source: the inputs are there
    }
    settle(s);
  } catch (Error& e) {
    const Node& n = at_fault(f_.graph_, s.nodes, e);
    if (e.op.empty()) e.op = n.op;
    if (e.user_line.empty()) e.user_line = n.user_line;
    throw;
  }
}

void FunctionRun::name_error(const Step& s, int sample, Error& e) const {
  const Node& blame = s.kind == Step::Kind::stage ? at_fault(f_.graph_, s.nodes, e) : f_.graph_.node(s.nodes.front());
  if (e.op.empty()) e.op = blame.op;
  e.user_line = blame.user_line;
  const int number = frame_.numbers[static_cast<size_t>(sample)];
  if (e.source.empty() && !call_.inputs.empty()) e.source = call_.inputs[0]->sample(number).source;
  if (e.source.empty() && samples_ > 1) e.source = fmt::format("sample {}", number);
}

void FunctionRun::fail(int sample, Error e) {
  frame_.failed[static_cast<size_t>(frame_.numbers[static_cast<size_t>(sample)])] = 1;
  errors_.push_back({sample, std::move(e)});
}

void FunctionRun::settle(const Step& s) {
  if (errors_.empty()) return;
  std::stable_sort(errors_.begin(), errors_.end(), [](const auto& a, const auto& b) { return a.sample < b.sample; });
  for (SampleError& bad : errors_) name_error(s, bad.sample, bad.error);
  const auto ends = [&](const Error& e) { return !call_.errors || !is_of_data(e); };
  const auto node_of = [&](const Error& e) { return at_fault(f_.graph_, s.nodes, e).id; };
  if (const auto* bad = first_to_raise(errors_, ends, node_of)) throw bad->error;
  for (SampleError& bad : errors_) {
    const auto number = static_cast<size_t>(frame_.numbers[static_cast<size_t>(bad.sample)]);
    if (!(*call_.errors)[number]) (*call_.errors)[number] = std::move(bad.error);
  }
}

// Later steps do not see the samples that have failed: a batch-wide operator works on the others alone.
void FunctionRun::drop_failed() {
  if (!call_.errors) return;
  std::vector<int> stay;
  for (int i = 0; i < size_; ++i)
    if (!frame_.failed[static_cast<size_t>(frame_.numbers[static_cast<size_t>(i)])]) stay.push_back(i);
  if (static_cast<int>(stay.size()) == size_) return;
  for (Batch& b : frame_.values)
    if (b.size() == size_) b = gathered(b, stay);
  std::vector<int> numbers;
  for (int i : stay) numbers.push_back(frame_.numbers[static_cast<size_t>(i)]);
  frame_.numbers = std::move(numbers);
  size_ = static_cast<int>(stay.size());
}

SampleContext FunctionRun::context(int sample, const Node& n) const {
  const auto number = static_cast<uint64_t>(frame_.numbers[static_cast<size_t>(sample)]);
  return {sample, trips_key_, call_.epoch, call_.first_sample + number, f_.graph_.draws_of(n)};
}

std::shared_ptr<BoundOp> FunctionRun::bind(const Node& n) {
  const auto args = graph().arguments(n, [&](ValueRef v) { return &value(f_.compiled_.slot(v)); });
  for (const auto& a : args)
    if (a.batch && a.batch->size() != size_)
      bad_argument("a per-sample argument has {} values for {} samples", a.batch->size(), size_);
  return bind_op(info_of(n), args);
}

}  // namespace penstock
