// SPDX-License-Identifier: Apache-2.0
#include "exec/call_gpu.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "batch/copy_strided_on_gpu.h"
#include "batch/transfer.h"
#include "device/gpu_backend.h"
#include "exec/call.h"
#include "exec/call_decode.h"
#include "exec/call_into.h"
#include "exec/refuse_boxes.h"

namespace penstock {
namespace {

// The key of a cached stage: everything that its code depends on. Values of constants come last.
class Key {
 public:
  Key(const OpInfo& info, std::span<const Batch> inputs, std::span<const Argument> args, DrawKey draws, int gpu) {
    text.reserve(256);
    add(&info), add(draws.seed), add(draws.node), add(gpu), add(inputs.size());
    for (const Batch& b : inputs) add(b);
    for (size_t i = 0; i < args.size(); ++i) {
      if (!args[i].given()) continue;
      add(i);
      if (args[i].batch) add(*args[i].batch), per_sample = true;
    }
    structure = text.size();
    for (const Argument& a : args)
      if (!a.batch && a.given()) add(a.value);
  }
  std::string text;
  size_t structure = 0;  // the length of the part without values
  bool per_sample = false;

 private:
  template <class T> void add(const T& t) {
    static_assert(std::is_scalar_v<T>);
    text.append(reinterpret_cast<const char*>(&t), sizeof t);
  }
  void add(const Batch& b) {
    add(b.dtype()), add(b.ndim());
    text.append(b.layout().view()).push_back('\0');
  }
  void add(const Value& value) {
    add(value.index());
    std::visit([&](const auto& v) { add_value(v); }, value);
  }
  void add_value(std::monostate) {}
  void add_value(const std::string& s) {
    add(s.size());
    text.append(s);
  }
  template <class T> void add_value(const std::vector<T>& v) {
    add(v.size());
    for (const auto& e : v) add_value(e);
  }
  template <class T>
    requires std::is_scalar_v<T> void add_value(T v) {
    add(v);
  }
};

StageProgram program_of(const OpInfo& info, std::span<const Batch> inputs, std::span<const Argument> args,
                        const SampleContext& context) {
  StageProgram program;
  std::vector<int> operands;
  for (const auto& b : inputs) {
    program.inputs.push_back({b.dtype(), b.ndim(), b.layout()});
    operands.push_back(static_cast<int>(operands.size()));
  }
  program.outputs = {append_node(program, bind_op(info, args), operands, context.draws)};
  if (!info.size_output.empty() && outputs_of(info, args) > info.outputs) program.sizes = {0};
  return program;
}

// Stages of earlier calls. A stage with the same constants runs again; one with the same structure is rebound.
class StageCache {
 public:
  using Stage = std::unique_ptr<BatchStageRunner>;
  struct Known {
    std::vector<Stage> idle;  // as many as there were concurrent calls
  };
  struct Taken {
    Stage stage;
    std::shared_ptr<Known> known;  // where it is returned to
  };

  Taken take(const Key& key, const std::function<StageProgram()>& program) {
    Taken taken;
    std::shared_ptr<BatchStageRunner> alike;
    {
      std::lock_guard lock(mutex_);
      if (auto it = known_.find(key.text); it != known_.end() && !key.per_sample) {
        taken.known = it->second;
        if (auto& idle = taken.known->idle; !idle.empty()) {
          taken.stage = std::move(idle.back());
          idle.pop_back();
          return taken;
        }
      }
      if (auto it = structures_.find(key.text.substr(0, key.structure)); it != structures_.end()) alike = it->second;
    }
    const StageProgram p = program();
    if (alike) taken.stage = alike->rebound(p);
    if (!taken.stage) taken.stage = gpu_backend().make_stage(p);
    return taken;
  }

  // A stage with per-sample values refers to the caller's batches: it is only rebound, not run again.
  void give_back(const Key& key, Taken taken) {
    std::lock_guard lock(mutex_);
    if (!taken.known) {  // its first call
      if (known_.size() + structures_.size() >= kMost) known_.clear(), structures_.clear();
      auto& first = structures_[key.text.substr(0, key.structure)];
      if (key.per_sample) {
        if (!first) first = std::move(taken.stage);
        return;
      }
      if (!first) first = taken.stage->rebound(taken.stage->program());
      auto& known = known_[key.text];
      if (!known) known = std::make_shared<Known>();
      taken.known = known;
    }
    taken.known->idle.push_back(std::move(taken.stage));
  }

 private:
  static constexpr size_t kMost = 512;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Known>> known_;
  std::unordered_map<std::string, std::shared_ptr<BatchStageRunner>> structures_;
};

// Never destroyed: the library that made the stages is not unloaded either.
StageCache& stage_cache() {
  static auto* cache = new StageCache;
  return *cache;
}

bool decodes(const OpInfo& info) { return info.family == Family::stage && info.make()->traits().decodes; }

bool has_kernel(const OpInfo& info) {
  static std::mutex mutex;
  static auto* known = new std::unordered_map<const OpInfo*, bool>;
  std::lock_guard lock(mutex);
  if (auto it = known->find(&info); it != known->end()) return it->second;
  const bool has = info.family == Family::stage ? !decodes(info) : gpu_backend().runs_whole(info.name);
  return (*known)[&info] = has;
}

std::vector<Batch> run_stage(const OpInfo& info, std::span<const Batch> inputs, std::span<const Argument> args,
                             const SampleContext& context, int batch_size, const CallPlace& place) {
  const Key key(info, inputs, args, context.draws, place.gpu);
  auto taken = stage_cache().take(key, [&] { return program_of(info, inputs, args, context); });
  const StageProgram& program = taken.stage->program();
  for (size_t k = 0; k < inputs.size(); ++k) refuse_boxes(program, static_cast<int>(k), inputs[k]);
  std::vector<Batch> outputs(program.outputs.size() + program.sizes.size() + program.more.size());
  std::vector<SampleError> errors;
  const BatchStageCall call{place.gpu,  place.stream,
                            batch_size, [&](int i) { return of_sample(context, i); },
                            inputs,     runtime_of(place.gpu).memory(place.gpu),
                            {}};
  taken.stage->run(call, outputs, errors);
  for (size_t k = 0; k < program.outputs.size(); ++k) {
    const Layout& layout = type_of(program, program.outputs[k]).layout;
    if (layout.size() == outputs[k].ndim()) outputs[k].set_layout(layout);
  }
  stage_cache().give_back(key, std::move(taken));
  if (!errors.empty()) {
    const auto first = std::min_element(errors.begin(), errors.end(),
                                        [](const auto& a, const auto& b) { return a.sample < b.sample; });
    if (first->error.source.empty() && !inputs.empty()) first->error.source = inputs[0].sample(first->sample).source;
    name_sample(first->error, first->sample, batch_size);
    throw first->error;
  }
  return outputs;
}

// Inputs on another device are copied first.
std::vector<Batch> run_there(const OpInfo& info, std::span<const Batch> inputs, std::span<const Argument> args,
                             const SampleContext& context, int batch_size, const CallPlace& place) {
  const Device device{DeviceKind::gpu, static_cast<int16_t>(place.gpu)};
  std::vector<Batch> moved;
  if (std::any_of(inputs.begin(), inputs.end(), [&](const Batch& b) { return b.device() != device; })) {
    for (size_t k = 0; k < inputs.size(); ++k)
      moved.push_back(info.reads_shapes || info.reads_on_host(k) ? inputs[k]
                                                                 : copy_to(inputs[k], device, place.stream));
    inputs = moved;
  }
  for (const Batch& b : inputs)
    if (b.device() == device) order_before(b, place.stream);
    else wait_on_host(b);
  const auto there = [&](const Argument& a) { return a.batch && a.batch->device() == device; };
  for (const Argument& a : args)
    if (there(a)) order_before(*a.batch, place.stream);
  std::vector<Batch> results = run_stage(info, inputs, args, context, batch_size, place);
  std::shared_ptr<DeviceEvent> done;  // other readers of the results wait for the stream: nobody else needs an event
  const auto used = [&](const Batch& b) {
    if (!b.stream || b.stream == place.stream) return;
    if (!done) done = runtime_of(place.gpu).record(place.gpu, place.stream);
    used_on(b, place.stream, *done);
  };
  for (const Batch& b : inputs) used(b);
  for (const Argument& a : args)
    if (there(a)) used(*a.batch);
  for (Batch& b : results)
    if (b.device() == device) b.stream = place.stream, b.ready = done;
  return results;
}

// A decoder of the GPU, then the operator's own window as a stage.
std::vector<Batch> run_decoder(const OpInfo& info, std::span<const Batch> inputs, std::span<const Argument> args,
                               const SampleContext& context, int batch_size, const CallPlace& place) {
  const Batch encoded = on_host(inputs[0]);
  std::vector<Batch> results{decode_on_gpu(info, encoded, args, context, place)};
  if (info.make()->traits().maps) {
    Batch& pixels = results[0];
    pixels.ready = nullptr;  // on this stream
    results = run_stage(info, results, args, context, batch_size, place);
  }
  const auto done = runtime_of(place.gpu).record(place.gpu, place.stream);
  for (Batch& b : results) b.stream = place.stream, b.ready = done;
  return results;
}

std::vector<Batch> run_on_host(const OpInfo& info, std::span<const Batch> inputs, std::span<const Argument> args,
                               const SampleContext& context, int batch_size, CallPlace& place) {
  std::vector<Batch> here;
  for (const Batch& b : inputs) here.push_back(copy_to(b, {}, b.device().id == place.gpu ? place.stream : nullptr));
  for (Batch& b : here) wait_on_host(b), b.ready = nullptr;
  place.on_host = true;
  return call_op(info, here, args, context, default_memory(), batch_size);
}

// Fills the caller's memory for a result from the result.
Batch fill(const Batch& result, const Batch& target, StreamHandle stream) {
  check_target(result, target);
  Batch filled = result;
  use_strided_memory(filled, target);
  if (result.device().kind == DeviceKind::cpu) {
    for (int i = 0; i < filled.size(); ++i) copy_strided(result.view(i), filled.view(i));
    return filled;
  }
  DeviceRuntime& rt = runtime_of(result.device().id);
  order_before(target, stream);
  for (int i = 0; i < filled.size(); ++i)
    copy_strided_on_gpu(rt, result.device().id, result.view(i), filled.view(i), stream);
  filled.block = target.block;
  filled.stream = target.stream;
  return filled;
}

std::vector<Batch> call_there(const OpInfo& info, std::span<const Batch> inputs, std::span<const Argument> args,
                              const SampleContext& context, int batch_size, std::span<const Batch* const> into,
                              CallPlace& place) {
  DeviceRuntime& rt = runtime_of(place.gpu);
  if (!place.stream) place.stream = thread_stream(place.gpu);
  const Device device{DeviceKind::gpu, static_cast<int16_t>(place.gpu)};
  for (size_t k = 0; k < into.size(); ++k)
    if (into[k] && into[k]->device() != (k < static_cast<size_t>(info.outputs) ? device : Device{}))
      bad_argument("the memory for result {} is on {}, but the call runs on {}", k, name_of(into[k]->device()),
                   name_of(device));

  std::vector<Batch> results;
  bool enqueued = false;
  const bool kernel = (!inputs.empty() || info.family == Family::whole) && has_kernel(info);
  const bool decoder = !inputs.empty() && !kernel && decodes(info);
  if (kernel || (decoder && has_gpu_decoder(info, args, place.gpu))) {
    try {
      results = decoder ? run_decoder(info, inputs, args, context, batch_size, place)
                        : run_there(info, inputs, args, context, batch_size, place);
      enqueued = true;
    } catch (const NoKernel&) {
    }
  }
  if (!enqueued) {
    results = run_on_host(info, inputs, args, context, batch_size, place);
    place.on_host &= !decoder || !asks_for_cpu(info, args);  // no warning for a request for the CPU
    for (size_t k = 0; k < results.size() && k < static_cast<size_t>(info.outputs); ++k)
      results[k] = copy_to(results[k], device, place.stream);
  }
  for (size_t k = 0; k < into.size() && k < results.size(); ++k)
    if (into[k]) {
      Batch filled = fill(results[k], *into[k], place.stream);
      if (filled.device() == device) {
        filled.ready = rt.record(place.gpu, place.stream);
        used_on(filled, place.stream, *filled.ready);
      }
      results[k] = std::move(filled);
    }
  return results;
}

}  // namespace

std::vector<Batch> call_on_gpu(const OpInfo& info, std::span<const Batch> inputs, std::span<const Argument> args,
                               const SampleContext& context, int batch_size, std::span<const Batch* const> into,
                               CallPlace& place) {
  std::vector<Batch> results;
  runtime_of(place.gpu).on_device(place.gpu,
                                  [&] { results = call_there(info, inputs, args, context, batch_size, into, place); });
  return results;
}

}  // namespace penstock
