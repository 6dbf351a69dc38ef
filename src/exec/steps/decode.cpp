// SPDX-License-Identifier: Apache-2.0
// Decoding on a GPU: worker threads read files and headers and decode what the engine does not take; the engine gets
// the rest of all iterations that have come so far. What it fails on is decoded by worker threads as well.
//
// Where the next step is the only one that reads the pictures, through a map, and the engine takes regions, just what
// that step reads is decoded (exec/decoded_region.h).
#include <algorithm>
#include <optional>
#include <utility>

#include "base/error_of.h"
#include "batch/encoded_bytes.h"
#include "data/storage.h"
#include "exec/call.h"
#include "exec/decoded_region.h"
#include "exec/group_decoder.h"
#include "exec/picture_cache.h"
#include "exec/steps/kinds.h"
#include "exec/steps/stage_program.h"
#include "graph/stage_growth.h"

namespace penstock {
namespace {

constexpr int kReadTogether = 8;  // files that a thread reads at once

struct DecodeState final : StepState {
  struct Sample {
    std::shared_ptr<void> read;  // the file, where this step reads it: pinned, the engine fetches it itself
    Bytes file;
    ImageInfo info;
    ParsedHeader header;  // the engine's
    Shape shape;          // of the picture
    Region region;        // what is decoded of it
    Shape target_shape;   // of the region's pixels on the device
    void* target = nullptr;
    std::shared_ptr<void> pixels;               // decoded by a worker thread; null: for the engine
    std::shared_ptr<const CachedPicture> kept;  // decoded in an earlier epoch
  };
  DecodeParams params;
  StageProgram next;  // of the next step, where it says what is read
  Batch encoded;      // keeps the files that this step does not read
  std::vector<Sample> samples;
  std::optional<DecodeJob> job;
  std::vector<int> in_job;   // samples
  bool handed_over = false;  // from now on worker threads decode
  std::vector<int> again;    // samples that the engine failed on: the step's items
};

class DecodeStep final : public StatefulStep<DecodeState> {
 public:
  DecodeStep(StepContext& context, size_t index);

  void prepare(Iteration& it, Worker&) override;
  void run(Iteration& it, int first, int count, Worker& worker) override;
  bool settled(Iteration& it) override;
  bool hand_over(const std::shared_ptr<Iteration>& it) override;
  void begin_settling(Iteration& it) override;
  void drop(Iteration& it, const std::vector<int>& gone) override;
  size_t bytes_in_use() const override { return decoder_->bytes_in_use(); }

 private:
  void decode_sample(Iteration& it, DecodeState& state, int i);
  void read(Iteration& it, DecodeState::Sample& x, int i) const;
  Region region_of(Iteration& it, const DecodeState& state, int i) const;
  void upload(Iteration& it, DecodeState& state, int i);
  void allocate(Iteration& it, DecodeState& state);
  void begin_job(Iteration& it, DecodeState& state);
  void keep(Iteration& it, DecodeState& state, int i);
  void decoded(const std::shared_ptr<Iteration>& it, DecodeJob& job, std::optional<Error> failure, int64_t begin_ns,
               int64_t end_ns);

  std::unique_ptr<GroupDecoder> decoder_;
  std::unique_ptr<PictureCache> cache_;  // if pictures are kept
  bool regions_ = false;                 // only regions are decoded
};

DecodeStep::DecodeStep(StepContext& context, size_t index) : StatefulStep(context, index) {
  rules.allocates = rules.fed_ahead = true;
  rules.makes_output = makes_output();
  auto& engine = context.engines.at(node.id);
  context.statistics.name_engine(index, engine->name());
  decoder_ = std::make_unique<GroupDecoder>(*context.gpu, std::move(engine),
                                            bound_early(context.plan.graph, node)->decode_params(),
                                            int64_t{context.depth} * context.options.batch_size);
  if (names_pictures(context, step.inputs[0])) cache_ = PictureCache::of(context.plan.graph, node);
  regions_ = step.regions && !cache_;
}

void DecodeStep::prepare(Iteration& it, Worker&) {
  auto state = std::make_shared<DecodeState>();
  state->params = context_.bind(it, node)->decode_params();
  state->params.may_scale = false;  // the whole picture
  if (regions_) {
    const Step& next = context_.plan.steps[index_ + 1];
    std::vector<ValueType> types{{state->params.dtype, 3, "HWC"}};
    const auto others = types_of(it, std::span(next.inputs).subspan(1));
    types.insert(types.end(), others.begin(), others.end());
    state->next = program_of(context_, it, next, std::move(types), {});
  }
  if (!step.lazy_source) state->encoded = it.values.at(step.inputs[0]);
  state->samples.resize(it.size);
  it.items = it.size;
  it.together = kReadTogether;
  it.step_state = std::move(state);
}

void DecodeStep::run(Iteration& it, int first, int count, Worker&) {
  DecodeState& state = state_of(it);
  for (int item = first; item < first + count; ++item) {
    const int i = state.again.empty() ? item : state.again[item];
    if (auto error = error_of([&] { decode_sample(it, state, i); })) add_error(it, i, std::move(*error));
  }
}

// The first bad sample may be one that the engine would have been given.
void DecodeStep::begin_settling(Iteration& it) {
  DecodeState& state = state_of(it);
  state.again.clear();
  if (state.handed_over || context_.options.on_error != OnError::raise) return;
  int first = it.size;
  for (const auto& bad : it.errors) first = std::min(first, bad.sample);
  for (int i = 0; i < first; ++i) {
    const auto& x = state.samples[i];
    if (x.pixels || x.kept) continue;
    auto error = error_of(
        [&] { decode_region(x.file, x.info, {}, state.params, x.region, context_.gpu->pinned(), it.stream, nullptr); });
    if (error) return add_error(it, i, std::move(*error));
  }
}

void DecodeStep::drop(Iteration& it, const std::vector<int>& gone) {
  auto& samples = state_of(it).samples;
  for (size_t k = gone.size(); k-- > 0;) samples.erase(samples.begin() + gone[k]);
}

void DecodeStep::read(Iteration& it, DecodeState::Sample& x, int i) const {
  if (!step.lazy_source) {
    x.file = encoded_bytes(it.values.at(step.inputs[0]).view(i));  // another record may stand in
    return;
  }
  const auto room = [&](int64_t bytes) {
    x.read = allocate_shared(context_.gpu->staging(), static_cast<size_t>(bytes));
    return static_cast<uint8_t*>(x.read.get());
  };
  const int64_t bytes = read_file_to(context_.path_of(it, step.inputs[0], i), room);
  x.file = {static_cast<const uint8_t*>(x.read.get()), static_cast<size_t>(bytes)};
}

void DecodeStep::decode_sample(Iteration& it, DecodeState& state, int i) {
  auto& x = state.samples[i];
  x.pixels = nullptr;
  if (cache_ && !state.handed_over && (x.kept = cache_->find(context_.path_of(it, step.inputs[0], i)))) {
    x.shape = x.kept->shape;
    x.region = {0, 0, x.shape[0], x.shape[1]};
    return;
  }
  read(it, x, i);
  ParsedHeader read;
  x.info = probe_image(x.file, state.params, &read);
  x.shape = Shape{x.info.height, x.info.width, output_channels(x.info, state.params.type)};
  x.region = region_of(it, state, i);
  const auto engine_takes_it = [&] {
    return decoder_->decoder().declines(x.file, x.info, state.params, read, &x.header).empty();
  };
  if (!state.handed_over && engine_takes_it()) return;
  std::string lacking;
  x.pixels = decode_region(x.file, x.info, read, state.params, x.region, context_.gpu->pinned(), it.stream, &lacking);
  tell_lacking(context_, it, i, lacking);
  if (state.handed_over) upload(it, state, i);
}

Region DecodeStep::region_of(Iteration& it, const DecodeState& state, int i) const {
  const Shape& shape = state.samples[i].shape;
  if (!regions_) return {0, 0, shape[0], shape[1]};
  return region_read(state.next, shape, [&](const StageNode& next) { return SampleContexts{it, next.draws}(i); });
}

// Copies what a worker thread has decoded to its place in the batch on the device.
void DecodeStep::upload(Iteration& it, DecodeState& state, int i) {
  GpuWork& gpu = *context_.gpu;
  auto& x = state.samples[i];
  auto& sample = it.values.at(step.output).sample(i);
  const Shape region = shape_of(x.region, x.shape);
  const size_t bytes = checked_bytes(region.volume(), size_of(state.params.dtype));
  if (!(x.target_shape == region)) {  // another file stands in
    sample.owner = allocate_shared(memory_of_regions(gpu.memory()), bytes, it.stream);
    x.target = sample.owner.get();
    x.target_shape = region;
  }
  show_region(sample, x.shape, x.region, x.target, state.params.dtype);
  if (bytes) gpu.runtime().copy(gpu.device(), x.target, x.pixels.get(), bytes, it.stream);
  x.pixels = nullptr;
}

void DecodeStep::allocate(Iteration& it, DecodeState& state) {
  Batch out(state.params.dtype, 3, "HWC", it.size);
  for (int i = 0; i < it.size; ++i) {
    auto& x = state.samples[i];
    x.target_shape = shape_of(x.region, x.shape);
    out.sample(i).shape = x.target_shape;
    out.sample(i).source = context_.path_of(it, step.inputs[0], i);
  }
  context_.outputs.check(std::span(&out, 1));
  out.allocate(memory_of_regions(context_.gpu_memory(it, rules.makes_output)), it.stream);
  for (int i = 0; i < it.size; ++i) {
    auto& x = state.samples[i];
    x.target = out.sample(i).data;
    show_region(out.sample(i), x.shape, x.region, x.target, state.params.dtype);
  }
  it.values.at(step.output) = std::move(out);
}

// True if there is something for the engine.
bool DecodeStep::settled(Iteration& it) {
  if (it.failure) return false;
  DecodeState& state = state_of(it);
  if (state.handed_over) return false;
  allocate(it, state);
  begin_job(it, state);
  return state.job.has_value();
}

void DecodeStep::begin_job(Iteration& it, DecodeState& state) {
  DecodeJob job;
  job.images.reserve(it.size);
  state.in_job.clear();
  for (int i = 0; i < it.size; ++i) {
    auto& x = state.samples[i];
    if (x.kept) {
      GpuWork& gpu = *context_.gpu;
      const size_t bytes = checked_bytes(x.shape.volume(), size_of(state.params.dtype));
      gpu.runtime().wait(gpu.device(), it.stream, *x.kept->ready);
      gpu.runtime().copy(gpu.device(), x.target, x.kept->pixels.get(), bytes, it.stream);
      continue;
    }
    if (x.pixels) {
      upload(it, state, i);
      if (cache_) keep(it, state, i);
      continue;
    }
    job.images.push_back({x.file, &x.info, x.target, std::nullopt, {}, std::move(x.header)});
    if (regions_) job.images.back().region = {x.region.y, x.region.x, x.region.height, x.region.width};
    state.in_job.push_back(i);
  }
  state.handed_over = true;
  if (cache_) context_.statistics.cached(index_, cache_->counts());
  if (job.images.empty()) return;
  job.stream = it.stream;
  job.taken = context_.gpu->runtime().record(context_.gpu->device(), it.stream);
  job.files = it.step_state;
  state.job = std::move(job);
}

// Copies a picture that is on the device now for the next epochs, if there is room.
void DecodeStep::keep(Iteration& it, DecodeState& state, int i) {
  const auto& x = state.samples[i];
  const std::string& name = context_.path_of(it, step.inputs[0], i);
  const size_t bytes = checked_bytes(x.shape.volume(), size_of(state.params.dtype));
  if (x.kept || !cache_->wants(name, bytes)) return;
  GpuWork& gpu = *context_.gpu;
  const auto error = error_of([&] {
    auto pixels = allocate_shared(gpu.memory(), bytes, it.stream);
    gpu.runtime().copy(gpu.device(), pixels.get(), x.target, bytes, it.stream);
    cache_->keep(name, {x.shape, std::move(pixels), gpu.runtime().record(gpu.device(), it.stream)});
  });
  if (error) cache_->forget(name);  // no memory: it is decoded again
}

bool DecodeStep::hand_over(const std::shared_ptr<Iteration>& it) {
  if (!it->step_state || it->failure || it->no_memory) return false;
  DecodeState& state = state_of(*it);
  if (!state.job) return false;
  DecodeJob job = std::move(*state.job);
  state.job.reset();
  // An iteration stays in the queue until it is finished.
  job.done = [this, weak = std::weak_ptr(it)](DecodeJob& j, std::optional<Error> failure, int64_t begin, int64_t end) {
    if (const auto waiting = weak.lock()) decoded(waiting, j, std::move(failure), begin, end);
  };
  context_.hand_over->hold(*it);
  decoder_->add(std::move(job));
  return true;
}

void DecodeStep::decoded(const std::shared_ptr<Iteration>& it, DecodeJob& job, std::optional<Error> failure,
                         int64_t begin_ns, int64_t end_ns) {
  context_.statistics.add({.thread = context_.options.threads_made(),
                           .step = static_cast<int>(index_),
                           .iteration = it->number,
                           .begin_ns = begin_ns,
                           .end_ns = end_ns,
                           .decode_ns = end_ns - begin_ns});
  DecodeState& state = state_of(*it);
  if (failure) fail_iteration(*it, std::move(*failure), &node);
  for (size_t k = 0; !it->failure && k < job.images.size(); ++k)
    if (job.images[k].error) state.again.push_back(state.in_job[k]);
    else if (cache_) keep(*it, state, state.in_job[k]);
  if (cache_) context_.statistics.cached(index_, cache_->counts());
  if (it->failure || state.again.empty()) context_.hand_over->step_done(it);
  else context_.hand_over->run_items(*it, static_cast<int64_t>(state.again.size()));
}

}  // namespace

std::unique_ptr<StepRunner> make_decode_step(StepContext& context, size_t index) {
  return std::make_unique<DecodeStep>(context, index);
}

}  // namespace penstock
