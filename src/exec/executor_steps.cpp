// SPDX-License-Identifier: Apache-2.0
// What the executor does in each kind of step.
#include <algorithm>
#include <utility>

#include "batch/encoded_bytes.h"
#include "batch/memory_reuse.h"
#include "batch/transfer.h"
#include "data/storage.h"
#include "exec/call.h"
#include "exec/executor.h"
#include "exec/refuse_boxes.h"
#include "readers/direct_memory.h"

namespace penstock {

constexpr size_t kCaches = size_t{8} << 20;

struct Executor::StageState {
  std::shared_ptr<CpuStage> runner;
  bool placed = false;           // the output has its memory
  bool large = false;            // more than caches hold
  std::atomic<size_t> bytes{0};  // of samples that got memory of their own
  std::vector<ValueRef> sizes;   // the outputs after the first
};

// The data's fault, which the error policy may settle; the caller's and ours are always raised.
bool is_of_data(const Error& e) { return e.kind() == ErrorKind::data || e.kind() == ErrorKind::file_missing; }

Executor::Contexts Executor::contexts(const Iteration& it, const Node& n) const { return {it, graph.draws_of(n)}; }

std::shared_ptr<BoundOp> Executor::bind(Iteration& it, const Node& n) {
  const auto args = plan.graph.arguments(n, [&](ValueRef v) { return &it.values.at(v); });
  for (const auto& a : args)
    if (a.batch && a.batch->size() != it.size)
      bad_argument("a per-sample argument has {} values for {} samples", a.batch->size(), it.size);
  return bind_op(info_of(n), args);
}

void Executor::prepare(Iteration& it, int thread) {
  const Step& s = plan.steps[it.step];
  it.step_state = nullptr;
  it.items = 0;
  it.together = 1;
  use_domain(it, s.domain);
  if (logs_steps_) log_step(it, s);
  switch (s.kind) {
    case Step::Kind::source: prepare_source(it, s); break;
    case Step::Kind::read: prepare_read(it, s); break;
    case Step::Kind::whole: prepare_whole(it, s); break;
    case Step::Kind::stage:
      if (s.gpu) prepare_gpu_stage(it, s);
      else if (!run_numbers(it, s, *workers_[thread].scratch)) prepare_stage(it, s);
      break;
    case Step::Kind::transfer: prepare_transfer(it, s); break;
    case Step::Kind::decode: prepare_decode(it, s); break;
    case Step::Kind::control: prepare_control(it, s); break;
    case Step::Kind::call: prepare_call(it, s); break;
  }
}

// An iteration may have failed before it asked all of its sources. What it would have got goes with it, so that batches
// of several sources stay together. False: the data have ended.
bool Executor::catch_up(Source& source, const Iteration& it, int node) {
  const auto number = static_cast<int64_t>(it.number);
  if (it.place) {
    source.next_number = number + 1;
    source.seek(it.place->epoch, it.place->batch, options.batch_size, options.epoch_mode, false);
    return true;
  }
  int64_t k = source.next_number < 0 ? number : source.next_number;
  source.next_number = number + 1;
  for (; k < number; ++k) {
    SourceBatch failed;
    failed.primary = node == primary;
    try {
      const int n = source.next(failed, options.batch_size, options.epoch_mode);
      if (n == 0) return false;
      std::lock_guard lock(mutex_);
      if (node == primary) replayed_ += static_cast<uint64_t>(n);
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::cancelled) throw;
    }
  }
  return true;
}

void Executor::prepare_source(Iteration& it, const Step& s) {
  const int node = s.nodes[0];
  if (it.given.count({node, 0})) return;  // the iteration has begun again
  int n = 0;
  SourceBatch batch;
  batch.primary = node == primary, batch.stream = it.stream;
  bool ended;
  {
    std::lock_guard lock(mutex_);
    ended = it.number > last_number_;
  }
  if (!ended && catch_up(*sources_.at(node), it, node))
    n = sources_.at(node)->next(batch, options.batch_size, options.epoch_mode);
  if (n == 0) {
    std::lock_guard lock(mutex_);
    it.end_of_data = true;
    last_number_ = std::min(last_number_, it.number);
    return;
  }
  if (it.size && it.size != n)
    bad_argument("the sources of the pipeline differ in their number of samples: {} and {}", it.size, n);
  it.size = n;
  if (node == primary) it.origin = std::move(batch.origin);
  if (static_cast<int>(it.origin.size()) < n) it.origin.resize(n);
  if (node == primary) {
    it.taken = n, it.last_of_epoch = sources_.at(node)->at_end_of_epoch();
    for (int i = 0; i < n; ++i) it.origin[i].number = i;
    set_replays(it);
  }
  it.states[node] = sources_.at(node)->state();
  const bool loads = loads_samples(node);
  for (int k = 0; !loads && k < static_cast<int>(batch.outputs.size()); ++k) {
    Batch& b = it.values.at({node, k});
    b = std::move(batch.outputs[k]);
    if (s.gpu && b.device().kind == DeviceKind::gpu && b.device().id == gpu_->device())
      b = taken_over(std::move(b), it.stream);
    else if (s.gpu) b = to_gpu(it, b, false);
    else if (b.device().kind == DeviceKind::gpu)
      bad_argument("returns batches on a GPU: set device='gpu' where the source is created");
  }
  if (!loads) batch.outputs.clear();
  if (!batch.indices.empty()) it.sources.insert_or_assign(node, std::move(batch));
  if (!loads) return;
  it.items = n;
  it.together = sources_.at(node)->loaded_together();
}

void Executor::fill_batch(Iteration& it) {
  if (it.size > 0 || primary >= 0 || it.domain != 0 || !it.frames.empty()) return;
  it.size = it.taken = options.batch_size;
  it.origin.resize(it.size);
  const auto size = static_cast<uint64_t>(it.size);
  const uint64_t first = it.place ? static_cast<uint64_t>(it.place->batch) * size : first_position_ + it.number * size;
  for (int i = 0; i < it.size; ++i) it.origin[i] = {.position = first + i, .number = i};
  set_replays(it);
  it.states[kNoSource] = std::to_string(first + it.size);
}

std::shared_ptr<void> Executor::slot_token(Iteration& it) {
  struct Token {
    std::shared_ptr<OutputSlots> slots;
    explicit Token(std::shared_ptr<OutputSlots> s) : slots(std::move(s)) {
      std::lock_guard lock(slots->mutex);
      ++slots->alive;
    }
    ~Token() {
      std::lock_guard lock(slots->mutex);
      --slots->alive;
      if (slots->wake && slots->wanted.exchange(false)) slots->wake->notify_all();
    }
  };
  std::lock_guard lock(it.error_mutex);
  std::shared_ptr<void> token = it.slot.lock();
  if (!token) it.slot = token = std::make_shared<Token>(slots_);
  return token;
}

std::shared_ptr<void> Executor::slot_memory(Iteration& it, size_t bytes) {
  if (plan.steps[it.step].pinned) return allocate_shared(gpu_->pinned(), bytes, it.stream);
  auto token = slot_token(it);
  auto memory = allocate_shared(options.memory, bytes);
  void* p = memory.get();
  // The token last, so that the memory is free when a waiting worker looks.
  return std::shared_ptr<void>(p, FreeWithToken{std::move(memory), std::move(token)});
}

void Executor::check_memory(size_t bytes) const {
  if (options.memory_limit && bytes > options.memory_limit)
    fail(ErrorKind::out_of_memory, "a batch of {} bytes or more exceeds the pipeline's memory_limit of {}", bytes,
         options.memory_limit);
}

void Executor::check_memory(std::span<const Batch> batches) const {
  if (!options.memory_limit) return;
  size_t bytes = 0;
  for (const Batch& b : batches)
    for (int i = 0; i < b.size(); ++i)
      if (b.shape(i).known()) check_memory(bytes += checked_bytes(b.shape(i).volume(), size_of(b.dtype())));
}

std::vector<ValueRef> Executor::size_outputs(const Step& s) const {
  std::vector<ValueRef> sizes;
  for (int id : s.nodes)
    if (const Node& n = plan.graph.node(id); gives_size(n)) sizes.push_back({id, n.outputs - 1});
  return sizes;
}

StageProgram Executor::program_of(Iteration& it, const Step& s, std::vector<ValueType> inputs,
                                  const std::vector<ValueRef>& sizes) {
  StageProgram program;
  program.inputs = std::move(inputs);
  std::map<ValueRef, int> number;
  for (size_t i = 0; i < s.inputs.size(); ++i) number.emplace(s.inputs[i], static_cast<int>(i));
  const auto operand = [&](const Node& n, ValueRef v) {
    const auto known = number.find(v);
    return known == number.end() ? number.at({n.id, 0, Place::pixels}) : known->second;
  };
  for (int id : s.nodes) {
    const Node& n = plan.graph.node(id);
    std::vector<int> operands;
    for (const auto& in : n.inputs) operands.push_back(operand(n, in));
    try {
      number[{id, 0}] = append_node(program, bind(it, n), std::move(operands), graph.draws_of(n));
    } catch (Error& e) {
      e.op = n.op;
      e.user_line = n.user_line;
      throw;
    }
  }
  program.outputs = {number.at(s.output)};
  for (const ValueRef& v : sizes) {
    const Node& n = plan.graph.node(v.node);
    program.sizes.push_back(operand(n, n.inputs[0]));
  }
  return program;
}

bool Executor::has_constant_arguments(const Step& s) const {
  return std::all_of(s.nodes.begin(), s.nodes.end(), [&](int id) { return plan.graph.node(id).per_sample.empty(); });
}

bool Executor::fits(const StageProgram& program, std::span<const ValueType> types) {
  for (size_t i = 0; i < types.size(); ++i) {
    const ValueType& t = program.inputs[i];
    if (t.dtype != types[i].dtype || t.ndim != types[i].ndim ||
        (!types[i].layout.empty() && !(t.layout == types[i].layout)))
      return false;
  }
  return true;
}

void Executor::prepare_stage(Iteration& it, const Step& s) {
  auto state = std::make_shared<StageState>();
  const bool cacheable = has_constant_arguments(s);
  std::vector<ValueType> types;
  for (const auto& in : s.inputs) {
    const Batch& b = it.values.at(in);
    types.push_back({b.dtype(), b.ndim(), b.layout()});
  }
  state->sizes = size_outputs(s);
  std::shared_ptr<CpuStage> cached;
  if (cacheable) {
    std::lock_guard lock(mutex_);
    cached = cached_[it.step];
  }
  if (cached && fits(cached->program(), types)) {
    state->runner = cached;
  } else {
    state->runner = std::make_shared<CpuStage>(program_of(it, s, types, state->sizes));
    if (cacheable) {
      std::lock_guard lock(mutex_);
      cached_[it.step] = state->runner;
    }
  }
  for (size_t k = 0; k < s.inputs.size(); ++k)
    refuse_boxes(state->runner->program(), static_cast<int>(k), it.values.at(s.inputs[k]));
  const ValueType& type = state->runner->program().nodes.back().type;
  const bool decodes = s.lazy_source || state->runner->program().nodes[0].op->traits().decodes;
  // Where all sizes are known before a pixel moves, samples go straight into their places in one dense batch.
  std::vector<Shape> in(s.inputs.size());
  std::vector<Shape> shapes(it.size);
  bool known = true;
  for (int i = 0; i < it.size && known; ++i) {
    for (size_t k = 0; k < in.size(); ++k) in[k] = it.values.at(s.inputs[k]).shape(i);
    if (decodes) {
      const auto params = state->runner->program().nodes[0].op->decode_params();
      in[0] = Shape{-1, -1, params.type == ImageType::any_data ? -1 : params.type == ImageType::gray ? 1 : 3};
    }
    try {
      state->runner->shapes(context(it, i, plan.graph.node(s.nodes[0])), in, std::span(&shapes[i], 1));
    } catch (Error& e) {
      name_sample(it, i, e);
      throw;
    }
    known = shapes[i].known();
  }
  const int ndim = known && it.size ? shapes[0].size() : type.ndim;
  Batch out(type.dtype, ndim, type.layout.size() == ndim ? type.layout : Layout{}, it.size);
  if (known) {
    for (int i = 0; i < it.size; ++i) out.sample(i).shape = shapes[i];
    if (out.has_uniform_shapes() && it.size) {
      const size_t bytes = checked_bytes(shapes[0].volume(), size_of(type.dtype));
      check_memory(checked_bytes(it.size, bytes));
      out.block = slot_memory(it, std::max<size_t>(1, checked_bytes(it.size, bytes)));
      for (int i = 0; i < it.size; ++i) out.sample(i).data = static_cast<char*>(out.block.get()) + i * bytes;
      state->placed = true;
      state->large = it.size * bytes > kCaches;
    }
  }
  for (int i = 0; i < it.size; ++i) out.sample(i).source = path_of(it, s.inputs[0], i);
  it.values[s.output] = std::move(out);
  for (size_t k = 0; k < state->sizes.size(); ++k) {
    const StageProgram& program = state->runner->program();
    it.values[state->sizes[k]] = make_sizes(program, static_cast<int>(k), it.size, options.memory);
  }
  it.items = it.size;
  it.together = std::min(kMostTogether, state->runner->together());
  it.step_state = state;
}

// The file that a reader names for the sample, or the sample's origin.
const std::string& Executor::path_of(const Iteration& it, ValueRef encoded, int i) const {
  return has_record(encoded) ? it.values.at(encoded).sample(i).source : it.origin[i].path;
}

void Executor::name_sample(const Iteration& it, int i, Error& e) const {
  const Step& s = plan.steps[it.step];
  if (e.source.empty()) e.source = s.inputs.empty() ? it.origin[i].path : path_of(it, s.inputs[0], i);
  if (e.source.empty()) e.source = fmt::format("sample {} of epoch {}", it.origin[i].position, it.origin[i].epoch);
}

void Executor::add_error(Iteration& it, int i, Error e) {
  const Step& s = plan.steps[it.step];
  const Node& blame = graph.node(is_of_data(e) || s.kind != Step::Kind::stage ? s.nodes.front() : s.nodes.back());
  if (e.op.empty()) e.op = blame.op;
  name_sample(it, i, e);
  e.user_line = blame.user_line;
  std::lock_guard lock(it.error_mutex);
  it.errors.push_back({i, std::move(e)});
}

void Executor::read_item(Iteration& it, int i) {
  const ValueRef output = plan.steps[it.step].output;
  const std::string& path = path_of(it, output, i);
  FileStamp stamp;
  std::shared_ptr<void> memory;
  int64_t bytes;
  if (direct_reads_.count(it.step)) {
    memory = read_file_to_device(file_memory_, path, it.stream, stamp);
    bytes = stamp.bytes;
  } else {
    const auto room = [&](int64_t n) {
      memory = allocate_shared(options.memory, static_cast<size_t>(n));
      return static_cast<uint8_t*>(memory.get());
    };
    bytes = read_file_to(path, room, default_file_limit, &stamp);
  }
  if (output.node == primary) it.origin[i].stamp = stamp;
  auto& sample = it.values.at(output).sample(i);
  sample.shape = Shape{bytes};
  sample.data = memory.get();
  sample.owner = std::move(memory);
}

void Executor::run_stage_items(Iteration& it, int first, int count, Worker& worker, int64_t& read_ns) {
  const Step& s = plan.steps[it.step];
  auto& state = *static_cast<StageState*>(it.step_state.get());
  const bool decodes = state.runner->program().nodes[0].op->traits().decodes;
  StageInput in[kMostTogether][4];
  std::optional<SampleContext> contexts[kMostTogether];
  AllocateOutput allocate[kMostTogether];
  std::vector<StageTask> tasks;
  tasks.reserve(kMostTogether);
  int sample_of[kMostTogether];
  for (int i = first; i < first + count; ++i) {
    const size_t t = tasks.size();
    FileStamp stamp;
    try {
      for (size_t k = 0; k < s.inputs.size(); ++k)
        if (k > 0 || !s.lazy_source) in[t][k].view = it.values.at(s.inputs[k]).view(i);
      if (s.lazy_source) {
        const int64_t begin = clock_ns();
        read_file(path_of(it, s.inputs[0], i), worker.file[t], default_file_limit, &stamp);
        read_ns += clock_ns() - begin;
        in[t][0].encoded = worker.file[t];
      } else if (decodes) {
        in[t][0].encoded = encoded_bytes(in[t][0].view);
      }
      // Without the time of a file's last change nothing is remembered of it.
      if (worker.index[t] && has_record(s.inputs[0]) && (s.lazy_source || s.inputs[0].node == primary)) {
        if (!s.lazy_source) stamp = it.origin[i].stamp;
        const auto bytes = static_cast<int64_t>(in[t][0].encoded.size());
        worker.index[t]->begin(path_of(it, s.inputs[0], i), 0, 0, bytes, stamp.modified_ns);
        in[t][0].index = worker.index[t].get();
      }
    } catch (Error& e) {
      add_error(it, i, std::move(e));
      continue;
    }
    allocate[t] = [this, &it, &state, &s, i](int output, DType type, const Shape& shape, const Layout&) -> View {
      if (output > 0) return it.values.at(state.sizes[output - 1]).view(i);
      auto& sample = it.values.at(s.output).sample(i);
      if (state.placed) {
        if (!(sample.shape == shape))
          fail(ErrorKind::internal, "a sample of shape {} where {} was promised", shape.text(), sample.shape.text());
      } else {
        const size_t bytes = checked_bytes(shape.volume(), size_of(type));
        if (options.memory_limit) check_memory(state.bytes += bytes);
        sample.shape = shape;
        sample.owner = slot_memory(it, bytes);
        sample.data = sample.owner.get();
      }
      return {sample.data, type, {}, shape, dense_strides(shape)};
    };
    contexts[t] = context(it, i, plan.graph.node(s.nodes.front()));
    sample_of[t] = i;
    tasks.push_back({*contexts[t], std::span(in[t], s.inputs.size()), allocate[t], std::nullopt});
  }
  worker.scratch->cold_output = state.large;
  state.runner->run_together(tasks, *worker.scratch);
  for (size_t t = 0; t < tasks.size(); ++t)
    if (tasks[t].error) add_error(it, sample_of[t], std::move(*tasks[t].error));
}

void Executor::load_items(Iteration& it, int first, int count) {
  const int node = plan.steps[it.step].nodes[0];
  for (int i = first; i < first + count; ++i)
    if (auto error = error_of([&] { load_sample(it, node, i); })) add_error(it, i, std::move(*error));
}

void Executor::run_items(Iteration& it, int64_t first, int count, int thread) {
  const Step& s = plan.steps[it.step];
  const int i = static_cast<int>(first);
  Worker& w = workers_[thread];
  const CrewMember member(&crew_);
  const int64_t begin = clock_ns();
  int64_t read_ns = 0;
  w.scratch->times = {};
  const auto run = [&] {
    switch (s.kind) {
      case Step::Kind::source: load_items(it, i, count); break;
      case Step::Kind::read: read_item(it, i); break;
      case Step::Kind::whole: run_whole_item(it, i); break;
      case Step::Kind::stage: run_stage_items(it, i, count, w, read_ns); break;
      case Step::Kind::transfer: run_transfer_item(it, i); break;
      case Step::Kind::decode: run_decode_items(it, i, count, read_ns); break;
      case Step::Kind::control: break;
      case Step::Kind::call: run_call_item(it, i); break;
    }
  };
  if (auto error = error_of(run)) add_error(it, i, std::move(*error));
  statistics.add(thread, static_cast<int>(it.step), it.number, begin, clock_ns(), count, read_ns,
                 w.scratch->times.decode_ns, w.scratch->times.pixels_ns);
}

void Executor::finish_step(Iteration& it, int thread) {
  if (it.no_memory) return release_values(it);  // its items may not be complete
  if (plan.steps[it.step].kind == Step::Kind::transfer && it.step_state && !it.failure)
    if (auto error = error_of([&] { finish_transfer(it); }))
      fail_iteration(it, std::move(*error), &plan.graph.node(plan.steps[it.step].nodes[0]));
  if (plan.steps[it.step].kind == Step::Kind::source) take_values(it, plan.steps[it.step].nodes[0]);
  if (!it.errors.empty() && !it.failure) {
    try {
      begin_settling(it);
      settle_errors(it, thread);
    } catch (Error& e) {
      fail_iteration(it, e, nullptr);
    }
    if (it.jump == 0) return;  // begins again
  }
  if (plan.steps[it.step].kind == Step::Kind::source && !it.failure && !it.end_of_data) {
    const int node = plan.steps[it.step].nodes[0];
    if (auto error = error_of([&] { finish_source(it, node); }))
      fail_iteration(it, std::move(*error), &plan.graph.node(node));
  }
  if (plan.steps[it.step].kind == Step::Kind::decode && !it.failure) {
    bool handed = false;
    if (auto error = error_of([&] { handed = begin_decode(it); }))
      fail_iteration(it, std::move(*error), &plan.graph.node(plan.steps[it.step].nodes[0]));
    if (handed && !it.failure) return;
  }
  if (logs_steps_) log_sizes(it, plan.steps[it.step]);
  release_values(it);
}

void Executor::release_values(Iteration& it) {
  for (const auto& [value, step] : plan.value_last_use)
    if (step == static_cast<int>(it.step)) it.values.at(value) = Batch();
  it.step_state = nullptr;
}

}  // namespace penstock
