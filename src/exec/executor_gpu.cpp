// SPDX-License-Identifier: Apache-2.0
// What the executor enqueues on a GPU: stages, copies in both directions, and how an iteration leaves it. A worker
// thread never waits for the device.
#include <algorithm>

#include "base/notice.h"
#include "batch/memory_reuse.h"
#include "batch/sample_lists.h"
#include "batch/transfer.h"
#include "device/gpu_backend.h"
#include "exec/call.h"
#include "exec/executor.h"
#include "exec/refuse_boxes.h"
#include "exec/stage_on_host.h"
#include "stage/program.h"

namespace penstock {

// Samples on their way through pinned memory: from memory that a copy would make the device wait for.
struct Executor::TransferState {
  Batch from, staged, to;
};

namespace {

Batch of_same_shapes(const Batch& b) {
  Batch like(b.dtype(), b.ndim(), b.layout(), b.size());
  for (int i = 0; i < b.size(); ++i) like.sample(i).shape = b.shape(i), like.sample(i).source = b.sample(i).source;
  return like;
}

constexpr size_t kParallelBytes = size_t{256} << 10;  // less is copied by one thread

}  // namespace

void Executor::prepare_gpu_stage(Iteration& it, const Step& s) {
  std::vector<ValueType> types;
  for (const auto& in : s.inputs) {
    const Batch& b = it.values.at(in);
    types.push_back({b.dtype(), b.ndim(), b.layout()});
  }
  if (s.inputs.empty()) fill_batch(it);
  const std::vector<ValueRef> sizes = size_outputs(s);
  std::shared_ptr<BatchStageRunner> compiled, runner;
  {
    std::lock_guard lock(mutex_);
    compiled = compiled_[it.step];
  }
  if (compiled && has_constant_arguments(s) && fits(compiled->program(), types)) runner = compiled;
  if (!runner) {
    const StageProgram program = program_of(it, s, std::move(types), sizes);
    if (compiled) runner = compiled->rebound(program);
    if (!runner) {
      runner = gpu_backend().make_stage(program);
      std::lock_guard lock(mutex_);
      compiled_[it.step] = runner;
    }
  }
  for (size_t k = 0; k < s.inputs.size(); ++k)
    refuse_boxes(runner->program(), static_cast<int>(k), it.values.at(s.inputs[k]));
  BatchStageCall call;
  call.device = gpu_->device();
  call.stream = it.stream;
  call.size = it.size;
  call.context = contexts(it, plan.graph.node(s.nodes.front()));
  call.memory = makes_output(s) ? with_token(gpu_->memory(), slot_token(it)) : gpu_->memory();
  const size_t before_more = 1 + sizes.size();
  std::vector<Batch> outputs(before_more + runner->program().more.size());
  std::vector<SampleError> errors;
  {
    // Lent, not copied: a batch has a record for each sample. A value may be there twice.
    std::vector<Batch> inputs;
    for (size_t k = 0; k < s.inputs.size(); ++k) {
      const auto first = std::find(s.inputs.begin(), s.inputs.begin() + static_cast<ptrdiff_t>(k), s.inputs[k]);
      const auto at = static_cast<size_t>(first - s.inputs.begin());
      inputs.push_back(at < k ? inputs[at] : std::move(it.values.at(s.inputs[k])));
    }
    call.inputs = inputs;
    std::vector<char> take;
    if (s.reuses) {
      take = held_alone(inputs[0]);
      call.in_place = take;
      statistics.copied(it.step, bytes_of_others(inputs[0], take));
    } else if (s.assigns) {
      statistics.copied(it.step, inputs[0].bytes());
    }
    bool no_kernel = false;
    auto error = error_of([&] {
      if (it.size == 0) {  // fn.filter, or errors, left none
        const auto make_empty = [&](Batch& b, const ValueType& t) {
          b = Batch(t.dtype, std::max(0, t.ndim), t.layout.size() == t.ndim ? t.layout : Layout{}, 0);
          b.set_device(call.memory->device());
        };
        make_empty(outputs[0], runner->program().nodes.back().type);
        for (size_t k = before_more; k < outputs.size(); ++k)
          make_empty(outputs[k], runner->program().more[k - before_more]);
        for (size_t k = 0; k < sizes.size(); ++k)
          outputs[1 + k] = make_sizes(runner->program(), static_cast<int>(k), 0, options.memory);
        return;
      }
      try {
        runner->run(call, outputs, errors);
      } catch (const NoKernel&) {
        no_kernel = true;
      }
    });
    for (size_t k = inputs.size(); k-- > 0;) it.values.at(s.inputs[k]) = std::move(inputs[k]);
    if (error) throw std::move(*error);
    if (no_kernel) {
      errors.clear();
      run_gpu_stage_on_host(it, s, runner->program(), call, outputs, errors);
    }
    if (s.reuses) it.values.at(s.inputs[0]) = Batch();
  }
  for (auto& e : errors) add_error(it, e.sample, std::move(e.error));
  const Batch* files = !s.inputs.empty() && has_record(s.inputs[0]) ? &it.values.at(s.inputs[0]) : nullptr;
  for (int i = 0; i < outputs[0].size(); ++i) {
    const std::string& path = files ? files->sample(i).source : it.origin[i].path;
    if (path.empty()) continue;
    if (auto& sample = outputs[0].sample(i); sample.source.empty()) sample.source = path;
  }
  it.values[s.output] = std::move(outputs[0]);
  for (size_t k = 0; k < sizes.size(); ++k) it.values[sizes[k]] = std::move(outputs[1 + k]);
  for (size_t k = before_more; k < outputs.size(); ++k)
    it.values[{s.output.node, static_cast<int>(k - before_more) + 1}] = std::move(outputs[k]);
}

// Values of arguments that lie on the GPU are brought to the host for as long as the operators read them.
void Executor::run_gpu_stage_on_host(Iteration& it, const Step& s, StageProgram program, BatchStageCall& call,
                                     std::span<Batch> outputs, std::vector<SampleError>& errors) {
  std::vector<Batch> inputs;
  for (const auto& in : s.inputs) inputs.push_back(it.values.at(in));
  call.inputs = inputs;
  std::map<ValueRef, Batch> there;
  for (int id : s.nodes)
    for (const auto& [name, v] : plan.graph.node(id).per_sample)
      if (const Batch& b = it.values.at(v); b.device().kind == DeviceKind::gpu) there.emplace(v, b);
  for (auto& [v, batch] : there) it.values.at(v) = copy_to(batch, {}, it.stream);
  auto error = error_of([&] {
    if (!there.empty()) {
      gpu_->runtime().synchronize(gpu_->device(), it.stream);
      std::vector<ValueType> types;
      for (const Batch& b : inputs) types.push_back({b.dtype(), b.ndim(), b.layout()});
      program = program_of(it, s, std::move(types), size_outputs(s));
    }
    run_stage_on_host(program, call, outputs, errors);
  });
  for (auto& [v, batch] : there) it.values.at(v) = std::move(batch);
  if (error) throw std::move(*error);
}

// A batch that lies on the host is copied by this thread into pinned memory first.
Batch Executor::to_gpu(Iteration& it, const Batch& from, bool output) {
  const int gpu = gpu_->device();
  if (from.device().kind == DeviceKind::gpu) {
    if (from.device().id != gpu) return copy_to(from, {DeviceKind::gpu, static_cast<int16_t>(gpu)}, it.stream);
    return taken_over(from, it.stream);
  }
  Batch staged = of_same_shapes(from), to = staged;
  staged.allocate(gpu_->pinned(), it.stream);
  to.allocate(output ? with_token(gpu_->memory(), slot_token(it)) : gpu_->memory(), it.stream);
  for (int i = 0; i < from.size(); ++i) copy_strided(from.view(i), staged.view(i)), clear_gap_after(staged, i);
  gpu_->copy(staged, to, it.stream);
  return to;
}

// Once for a pipeline, when it is under way: of a copy that nobody asked for and that costs more than the operator is
// worth.
void Executor::warn_of_transfer(const Iteration& it, const Step& s, size_t bytes) {
  constexpr uint64_t kUnderWay = 4;
  constexpr size_t kLarge = size_t{4} << 20;  // a tenth of a millisecond of the bus
  if (s.moved_for < 0 || it.number < kUnderWay || bytes < kLarge || warned_.exchange(true)) return;
  const Node& n = plan.graph.node(s.moved_for);
  notice(fmt::format(
      "[{}] each batch of its inputs is copied from the {}: {} bytes ({} to {}, {}); the plan's text shows all "
      "copies\n  at {}",
      n.op, s.gpu ? "CPU to the GPU" : "GPU to the CPU", bytes, plan.graph.value_text(s.inputs[0]),
      plan.graph.value_text(s.output), s.reason, n.user_line));
}

// It lands after the call has returned: the iteration waits for that.
Batch Executor::to_host(Iteration& it, const Batch& from, bool output) {
  Batch to = of_same_shapes(from);
  to.allocate(output ? with_token(gpu_->pinned(), slot_token(it)) : gpu_->pinned(), it.stream);
  gpu_->copy(from, to, it.stream);
  to.stream = nullptr;  // it is there before anybody sees it
  it.must_land = true;
  return to;
}

// Of a variable that is set for some samples alone, those are copied.
void Executor::move_some(Iteration& it, const Step& s, const Batch& from) {
  const std::vector<int> present = samples_with_values(from);
  Batch moved = from;
  if (!present.empty()) {
    const Batch some = gathered(from, present);
    moved = spread(s.gpu ? to_gpu(it, some, false) : to_host(it, some, false), present, from.size());
  }
  it.values.at(s.output) = std::move(moved);
}

void Executor::prepare_transfer(Iteration& it, const Step& s) {
  if (const Batch& from = it.values.at(s.inputs[0]); !every_sample_has_a_value(from)) return move_some(it, s, from);
  auto t = std::make_shared<TransferState>();
  t->from = it.values.at(s.inputs[0]);
  const bool output = makes_output(s);
  warn_of_transfer(it, s, t->from.bytes());
  if (!s.gpu) {
    for (int i = 0; i < t->from.size(); ++i)
      if (!t->from.view(i).dense()) bad_argument("a sample on the GPU has gaps: fn.copy() makes it dense");
    it.values.at(s.output) = to_host(it, t->from, output);
    return;
  }
  if (t->from.device().kind == DeviceKind::gpu || (!s.pinned && t->from.bytes() < kParallelBytes)) {
    it.values.at(s.output) = to_gpu(it, t->from, output);
    return;
  }
  t->to = of_same_shapes(t->from);
  t->to.allocate(output ? with_token(gpu_->memory(), slot_token(it)) : gpu_->memory(), it.stream);
  if (s.pinned) {
    gpu_->copy(t->from, t->to, it.stream);
    it.values.at(s.output) = std::move(t->to);
    return;
  }
  t->staged = of_same_shapes(t->from);
  t->staged.allocate(gpu_->pinned(), it.stream);
  it.items = it.size;
  it.step_state = std::move(t);
}

void Executor::run_transfer_item(Iteration& it, int i) {
  auto& t = *static_cast<TransferState*>(it.step_state.get());
  copy_strided(t.from.view(i), t.staged.view(i));
  clear_gap_after(t.staged, i);
}

void Executor::finish_transfer(Iteration& it) {
  auto& t = *static_cast<TransferState*>(it.step_state.get());
  gpu_->copy(t.staged, t.to, it.stream);
  it.values.at(plan.steps[it.step].output) = std::move(t.to);
}

// Enough is enqueued: one more than the prefetch, so that a host that is as fast as the device need not wait for it.
// Iterations that have begun there go on, so it never waits for itself. Beyond the prefetch a decoder is fed only while
// its pictures take little memory.
bool Executor::gpu_is_full(const Iteration& it, size_t position) const {
  const Step& s = plan.steps[it.step];
  if (!s.gpu || it.on_gpu) return false;
  return on_gpu_ >= most_on_gpu() ||
         (s.kind == Step::Kind::decode && position >= static_cast<size_t>(std::max(1, options.prefetch)) &&
          gpu_->bytes_in_use() >= read_ahead_bytes_);
}

std::shared_ptr<DeviceEvent> Executor::leave_gpu(Iteration& it) {
  std::shared_ptr<DeviceEvent> written = gpu_->runtime().record(gpu_->device(), it.stream);
  if (it.failure || it.no_memory || it.end_of_data) return written;
  for (const auto& v : plan.graph.outputs())
    if (Batch& b = it.values.at(v); b.device().kind == DeviceKind::gpu) b.ready = written;
  return written;
}

// A call from the device costs as much as a launch: it is asked for one only where all of its places are taken, or
// where a decoder waits for memory.
void Executor::look_for_room() {
  std::vector<Leaving> known;
  {
    std::lock_guard lock(mutex_);
    known = leaving_;
  }
  std::erase_if(known, [](const Leaving& l) {
    bool done = !l.done;
    if (!done && error_of([&] { done = l.done->done(); })) done = true;  // of a device that has failed
    return !done;
  });
  std::optional<Leaving> ask;
  Wake next;
  const auto leave = [this](uint64_t number) {  // under mutex_
    const auto gone = std::erase_if(leaving_, [&](const Leaving& l) { return l.number == number; });
    on_gpu_ -= static_cast<int>(gone);
    return gone > 0;
  };
  {
    std::lock_guard lock(mutex_);
    for (const Leaving& l : known)
      if (leave(l.number)) wake_for_room(next);
    if (on_gpu_ >= most_on_gpu() || !decoders_.empty())
      for (Leaving& l : leaving_)
        if (!l.asked) {
          l.asked = true, ask = l;
          break;
        }
  }
  wake(next);
  if (!ask) return;
  const auto passed = [this, leave, number = ask->number] {
    Wake next;
    {
      std::lock_guard lock(mutex_);
      leave(number);
      wake_for_room(next);
    }
    wake(next);
  };
  if (error_of([&] { gpu_->notify(ask->stream, passed); })) passed();
}

}  // namespace penstock
