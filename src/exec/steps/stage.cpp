// SPDX-License-Identifier: Apache-2.0
// Steps that run a stage on the CPU, sample by sample.
#include <algorithm>
#include <optional>
#include <utility>

#include "batch/encoded_bytes.h"
#include "data/storage.h"
#include "exec/call.h"
#include "exec/refuse_boxes.h"
#include "exec/steps/cached_decoding.h"
#include "exec/steps/kinds.h"
#include "exec/steps/number_row.h"
#include "exec/steps/stage_program.h"
#include "graph/at_fault.h"

namespace penstock {
namespace {

constexpr size_t kCaches = size_t{8} << 20;

struct StageState final : StepState {
  std::shared_ptr<CpuStage> runner;
  bool placed = false;           // the output has its memory
  bool large = false;            // more than caches hold
  std::atomic<size_t> bytes{0};  // of samples that got memory of their own
};

class StageStep final : public StatefulStep<StageState> {
 public:
  StageStep(StepContext& context, size_t index)
      : StatefulStep(context, index),
        numbers_(context, step),
        sizes_(size_outputs(context.plan, step)),
        constant_(has_constant_arguments(context.plan, step)),
        whole_(step.nodes.size() == 1 && info_of(node).family == Family::whole),
        cached_pictures_(CachedDecoding::of(context, index)) {
    rules.allocates = rules.runs_here = true;
    rules.makes_output = makes_output(whole_);
  }

  void prepare(Iteration& it, Worker& worker) override {
    if (!numbers_.run(it, *worker.scratch)) prepare_samples(it);
  }
  void run(Iteration& it, int first, int count, Worker& worker) override;
  const Node& blamed(const Error& e) const override { return at_fault(context_.graph, step.nodes, e); }

 private:
  void prepare_samples(Iteration& it);
  std::shared_ptr<CpuStage> stage_for(Iteration& it);
  bool find_shapes(const Iteration& it, const StageState& state, std::vector<Shape>& shapes) const;
  void place(Iteration& it, StageState& state, Batch& out, const std::vector<Shape>& shapes) const;
  void find_input(Iteration& it, int i, bool decodes, Worker& worker, size_t place, StageInput* in) const;
  View allocate(Iteration& it, StageState& state, int i, int output, DType type, const Shape& shape) const;

  void took(Iteration& it, int i, const std::string& lacking) const;
  bool run_cached(Iteration& it, StageState& state, int i, Worker& worker, const CachedDecoding::Picture& picture,
                  std::span<const StageInput> in);

  NumberRow numbers_;
  const std::vector<ValueRef> sizes_;  // the outputs after the first
  const bool constant_, whole_;
  const std::unique_ptr<CachedDecoding> cached_pictures_;
  std::mutex mutex_;
  std::shared_ptr<CpuStage> cached_;  // where no argument is per sample
};

std::shared_ptr<CpuStage> StageStep::stage_for(Iteration& it) {
  std::vector<ValueType> types = types_of(it, step.inputs);
  if (constant_) {
    std::lock_guard lock(mutex_);
    if (cached_ && fits(cached_->program(), types)) return cached_;
  }
  auto made = std::make_shared<CpuStage>(program_of(context_, it, step, std::move(types), sizes_));
  if (constant_) {
    std::lock_guard lock(mutex_);
    cached_ = made;
  }
  return made;
}

// Whether all sizes are known before a pixel moves. An operator that refuses one says so when its sample runs, with the
// errors of the others.
bool StageStep::find_shapes(const Iteration& it, const StageState& state, std::vector<Shape>& shapes) const {
  const auto& first = state.runner->program().nodes[0].op;
  const bool decodes = step.lazy_source || first->traits().decodes;
  std::vector<Shape> in(step.inputs.size());
  for (int i = 0; i < it.size; ++i) {
    for (size_t k = 0; k < in.size(); ++k) in[k] = it.values.at(step.inputs[k]).shape(i);
    if (decodes) {
      const auto params = first->decode_params();
      in[0] = Shape{-1, -1, params.type == ImageType::any_data ? -1 : params.type == ImageType::gray ? 1 : 3};
    }
    try {
      state.runner->shapes(context_.context(it, i, node), in, std::span(&shapes[i], 1));
    } catch (const Error&) {
      return false;
    }
    if (!shapes[i].known()) return false;
  }
  return true;
}

// Samples of one shape go straight into their places in one dense batch.
void StageStep::place(Iteration& it, StageState& state, Batch& out, const std::vector<Shape>& shapes) const {
  for (int i = 0; i < it.size; ++i) out.sample(i).shape = shapes[i];
  if (!out.has_uniform_shapes() || !it.size) return;
  const size_t bytes = checked_bytes(shapes[0].volume(), size_of(out.dtype()));
  context_.outputs.check(checked_bytes(it.size, bytes));
  out.block = output_memory(it, std::max<size_t>(1, checked_bytes(it.size, bytes)));
  for (int i = 0; i < it.size; ++i) out.sample(i).data = static_cast<char*>(out.block.get()) + i * bytes;
  state.placed = true;
  state.large = it.size * bytes > kCaches;
}

void StageStep::prepare_samples(Iteration& it) {
  auto state = std::make_shared<StageState>();
  state->runner = stage_for(it);
  const StageProgram& program = state->runner->program();
  for (size_t k = 0; k < step.inputs.size(); ++k)
    refuse_boxes(program, static_cast<int>(k), it.values.at(step.inputs[k]));
  const ValueType& type = program.nodes.back().type;
  std::vector<Shape> shapes(it.size);
  const bool known = find_shapes(it, *state, shapes);
  const int ndim = known && it.size ? shapes[0].size() : type.ndim;
  Batch out(type.dtype, ndim, type.layout.size() == ndim ? type.layout : Layout{}, it.size);
  if (known) place(it, *state, out, shapes);
  for (int i = 0; i < it.size; ++i) out.sample(i).source = context_.path_of(it, step.inputs[0], i);
  it.values[step.output] = std::move(out);
  for (size_t k = 0; k < sizes_.size(); ++k) {
    Batch sizes = make_sizes(program, static_cast<int>(k), it.size, context_.options.memory);
    for (int i = 0; i < it.size; ++i) sizes.sample(i).source = context_.path_of(it, step.inputs[0], i);
    it.values[sizes_[k]] = std::move(sizes);
  }
  it.items = it.size;
  it.together = std::min(Worker::kMostTogether, state->runner->together());
  it.step_state = std::move(state);
}

View StageStep::allocate(Iteration& it, StageState& state, int i, int output, DType type, const Shape& shape) const {
  if (output > 0) return it.values.at(sizes_[output - 1]).view(i);
  auto& sample = it.values.at(step.output).sample(i);
  if (state.placed) {
    if (!(sample.shape == shape))
      fail(ErrorKind::internal, "a sample of shape {} where {} was promised", shape.text(), sample.shape.text());
  } else {
    const size_t bytes = checked_bytes(shape.volume(), size_of(type));
    if (context_.options.memory_limit) context_.outputs.check(state.bytes += bytes);
    sample.shape = shape;
    sample.owner = output_memory(it, bytes);
    sample.data = sample.owner.get();
  }
  return {sample.data, type, {}, shape, dense_strides(shape)};
}

// Whether the picture of a sample is kept; then the rest of the stage has run on it.
bool StageStep::run_cached(Iteration& it, StageState& state, int i, Worker& worker,
                           const CachedDecoding::Picture& picture, std::span<const StageInput> in) {
  if (!picture) return false;
  const AllocateOutput place = [&](int output, DType type, const Shape& shape, const Layout&) {
    return allocate(it, state, i, output, type, shape);
  };
  std::vector<StageInput> inputs(in.begin(), in.end());
  for (size_t k = 1; k < step.inputs.size(); ++k) inputs[k].view = it.values.at(step.inputs[k]).view(i);
  cached_pictures_->run(state.runner, *picture, context_.context(it, i, node), inputs, place, *worker.scratch);
  return true;
}

// place: of the sample among those that the thread takes at once.
void StageStep::find_input(Iteration& it, int i, bool decodes, Worker& worker, size_t place, StageInput* in) const {
  const ValueRef encoded = step.inputs.empty() ? ValueRef{} : step.inputs[0];
  FileStamp stamp;
  for (size_t k = 0; k < step.inputs.size(); ++k)
    if (k > 0 || !step.lazy_source) in[k].view = it.values.at(step.inputs[k]).view(i);
  if (step.lazy_source) {
    read_file(context_.path_of(it, encoded, i), worker.file[place], default_file_limit, &stamp);
    in[0].encoded = worker.file[place];
  } else if (decodes) {
    in[0].encoded = encoded_bytes(in[0].view);
  }
  // Without the time of a file's last change nothing is remembered of it.
  RecordIndexAccess* index = worker.index[place].get();
  if (!index || !context_.has_record(encoded) || (!step.lazy_source && encoded.node != context_.sources.primary()))
    return;
  if (!step.lazy_source) stamp = it.origin[i].stamp;
  const auto bytes = static_cast<int64_t>(in[0].encoded.size());
  index->begin(context_.path_of(it, encoded, i), 0, 0, bytes, stamp.modified_ns);
  in[0].index = index;
}

// Another file may stand in since the outputs were named.
void StageStep::took(Iteration& it, int i, const std::string& lacking) const {
  tell_lacking(context_, it, i, lacking);
  if (step.inputs.empty() || !it.attempts.contains(i)) return;
  const std::string& path = context_.path_of(it, step.inputs[0], i);
  it.values.at(step.output).sample(i).source = path;
  for (const ValueRef& v : sizes_) it.values.at(v).sample(i).source = path;
}

void StageStep::run(Iteration& it, int first, int count, Worker& worker) {
  constexpr int kMost = Worker::kMostTogether;
  StageState& state = state_of(it);
  const bool decodes = state.runner->program().nodes[0].op->traits().decodes;
  StageInput in[kMost][4];
  std::string lacking[kMost];
  std::optional<SampleContext> contexts[kMost];
  AllocateOutput allocates[kMost];
  std::vector<StageTask> tasks;
  tasks.reserve(kMost);
  int sample_of[kMost];
  for (int i = first; i < first + count; ++i) {
    const size_t t = tasks.size();
    try {
      const std::span<const StageInput> inputs(in[t], step.inputs.size());
      const std::string* name = cached_pictures_ ? &context_.path_of(it, step.inputs[0], i) : nullptr;
      if (name && run_cached(it, state, i, worker, cached_pictures_->find(*name), inputs)) continue;
      find_input(it, i, decodes, worker, t, in[t]);
      if (i - first < kMost) worker.weights[static_cast<size_t>(i - first)] = in[t][0].encoded.size();
      in[t][0].lacking = &lacking[t];
      const auto params = [&] { return state.runner->program().nodes[0].op->decode_params(); };
      if (name && run_cached(it, state, i, worker, cached_pictures_->decode(*name, in[t][0].encoded, params()), inputs))
        continue;
    } catch (Error& e) {
      add_error(it, i, std::move(e));
      continue;
    }
    allocates[t] = [this, &it, &state, i](int output, DType type, const Shape& shape, const Layout&) {
      return allocate(it, state, i, output, type, shape);
    };
    contexts[t] = context_.context(it, i, node);
    sample_of[t] = i;
    tasks.push_back({*contexts[t], std::span(in[t], step.inputs.size()), allocates[t], std::nullopt});
  }
  worker.scratch->cold_output = state.large;
  state.runner->run_together(tasks, *worker.scratch);
  for (size_t t = 0; t < tasks.size(); ++t)
    if (tasks[t].error) add_error(it, sample_of[t], std::move(*tasks[t].error));
    else took(it, sample_of[t], lacking[t]);
}

}  // namespace

std::unique_ptr<StepRunner> make_stage_step(StepContext& context, size_t index) {
  return std::make_unique<StageStep>(context, index);
}

}  // namespace penstock
