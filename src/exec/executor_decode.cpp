// SPDX-License-Identifier: Apache-2.0
// Decoding on a GPU: worker threads read files and headers and decode what the engine does not take; the engine gets
// the rest of all iterations that have come so far. What it fails on is decoded by worker threads as well.
//
// Where the next step is the only one that reads the pictures, through a map, and the engine takes regions, just what
// that step reads is decoded (exec/decoded_region.h).
#include "batch/encoded_bytes.h"
#include "data/storage.h"
#include "exec/call.h"
#include "exec/decoded_region.h"
#include "exec/executor.h"

namespace penstock {

constexpr int kReadTogether = 8;  // files that a thread reads at once

struct Executor::DecodeState {
  struct Sample {
    std::shared_ptr<void> read;  // the file, where this step reads it: pinned, the engine fetches it itself
    Bytes file;
    ImageInfo info;
    ParsedHeader header;  // the engine's
    Shape shape;          // of the picture
    Region region;        // what is decoded of it
    Shape target_shape;   // of the region's pixels on the device
    void* target = nullptr;
    std::shared_ptr<void> pixels;  // decoded by a worker thread; null: for the engine
  };
  DecodeParams params;
  StageProgram next;  // of the step behind, where it says what is read
  Batch encoded;      // keeps the files that this step does not read
  std::vector<Sample> samples;
  std::optional<DecodeJob> job;
  std::vector<int> in_job;   // samples
  bool handed_over = false;  // from now on worker threads decode
  std::vector<int> again;    // samples that the engine failed on: the step's items
};

void Executor::prepare_decode(Iteration& it, const Step& s) {
  auto state = std::make_shared<DecodeState>();
  state->params = bind(it, plan.graph.node(s.nodes[0]))->decode_params();
  state->params.may_scale = false;  // the whole picture
  if (s.regions) {
    const Step& next = plan.steps[it.step + 1];
    std::vector<ValueType> types{{state->params.dtype, 3, "HWC"}};
    for (size_t k = 1; k < next.inputs.size(); ++k) {
      const Batch& b = it.values.at(next.inputs[k]);
      types.push_back({b.dtype(), b.ndim(), b.layout()});
    }
    state->next = program_of(it, next, std::move(types), {});
  }
  if (!s.lazy_source) state->encoded = it.values.at(s.inputs[0]);
  state->samples.resize(it.size);
  it.items = it.size;
  it.together = kReadTogether;
  it.step_state = std::move(state);
}

void Executor::run_decode_items(Iteration& it, int first, int count, int64_t& read_ns) {
  auto& state = *static_cast<DecodeState*>(it.step_state.get());
  for (int item = first; item < first + count; ++item) {
    const int i = state.again.empty() ? item : state.again[item];
    if (auto error = error_of([&] { decode_sample(it, state, i, read_ns); })) add_error(it, i, std::move(*error));
  }
}

void Executor::begin_settling(Iteration& it) {
  if (plan.steps[it.step].kind == Step::Kind::decode) static_cast<DecodeState*>(it.step_state.get())->again.clear();
}

void Executor::drop_files(Iteration& it, const std::vector<int>& gone) {
  if (plan.steps[it.step].kind != Step::Kind::decode) return;
  auto& samples = static_cast<DecodeState*>(it.step_state.get())->samples;
  for (size_t k = gone.size(); k-- > 0;) samples.erase(samples.begin() + gone[k]);
}

void Executor::decode_sample(Iteration& it, DecodeState& state, int i, int64_t& read_ns) {
  const Step& s = plan.steps[it.step];
  auto& x = state.samples[i];
  x.pixels = nullptr;
  if (s.lazy_source) {
    const auto room = [&](int64_t bytes) {
      x.read = allocate_shared(gpu_->staging(), static_cast<size_t>(bytes));
      return static_cast<uint8_t*>(x.read.get());
    };
    const int64_t begin = clock_ns();
    const int64_t bytes = read_file_to(path_of(it, s.inputs[0], i), room);
    read_ns += clock_ns() - begin;
    x.file = {static_cast<const uint8_t*>(x.read.get()), static_cast<size_t>(bytes)};
  } else {
    x.file = encoded_bytes(it.values.at(s.inputs[0]).view(i));  // another record may stand in
  }
  ParsedHeader read;
  x.info = probe_image(x.file, state.params, &read);
  x.shape = Shape{x.info.height, x.info.width, output_channels(x.info, state.params.type)};
  x.region = region_of(it, state, i);
  const auto engine_takes_it = [&] {
    return decoders_.at(it.step)->decoder().declines(x.file, x.info, state.params, read, &x.header).empty();
  };
  if (!state.handed_over && engine_takes_it()) return;
  x.pixels = decode_region(x.file, x.info, read, state.params, x.region, gpu_->pinned(), it.stream);
  if (state.handed_over) upload(it, state, i);
}

Region Executor::region_of(Iteration& it, const DecodeState& state, int i) const {
  const Shape& shape = state.samples[i].shape;
  if (!plan.steps[it.step].regions) return {0, 0, shape[0], shape[1]};
  return region_read(state.next, shape, [&](const StageNode& node) { return Contexts{it, node.draws}(i); });
}

// Of a sample that a worker thread has decoded, to its place in the batch on the device.
void Executor::upload(Iteration& it, DecodeState& state, int i) {
  auto& x = state.samples[i];
  auto& sample = it.values.at(plan.steps[it.step].output).sample(i);
  const Shape region = shape_of(x.region, x.shape);
  const size_t bytes = checked_bytes(region.volume(), size_of(state.params.dtype));
  if (!(x.target_shape == region)) {  // another file stands in
    sample.owner = allocate_shared(gpu_->memory(), bytes, it.stream);
    x.target = sample.owner.get();
    x.target_shape = region;
  }
  show_region(sample, x.shape, x.region, x.target, state.params.dtype);
  if (bytes) gpu_->runtime().copy(gpu_->device(), x.target, x.pixels.get(), bytes, it.stream);
  x.pixels = nullptr;
}

bool Executor::begin_decode(Iteration& it) {
  const Step& s = plan.steps[it.step];
  auto& state = *static_cast<DecodeState*>(it.step_state.get());
  if (state.handed_over) return false;
  Batch out(state.params.dtype, 3, "HWC", it.size);
  for (int i = 0; i < it.size; ++i) {
    auto& x = state.samples[i];
    x.target_shape = shape_of(x.region, x.shape);
    out.sample(i).shape = x.target_shape;
    out.sample(i).source = path_of(it, s.inputs[0], i);
  }
  check_memory(std::span(&out, 1));
  out.allocate(makes_output(s) ? with_token(gpu_->memory(), slot_token(it)) : gpu_->memory(), it.stream);
  for (int i = 0; i < it.size; ++i) {
    auto& x = state.samples[i];
    x.target = out.sample(i).data;
    show_region(out.sample(i), x.shape, x.region, x.target, state.params.dtype);
  }
  it.values.at(s.output) = std::move(out);
  DecodeJob job;
  job.images.reserve(it.size);
  state.in_job.clear();
  for (int i = 0; i < it.size; ++i) {
    auto& x = state.samples[i];
    if (x.pixels) {
      upload(it, state, i);
      continue;
    }
    job.images.push_back({x.file, &x.info, x.target, std::nullopt, {}, std::move(x.header)});
    if (s.regions) job.images.back().region = {x.region.y, x.region.x, x.region.height, x.region.width};
    state.in_job.push_back(i);
  }
  state.handed_over = true;
  if (job.images.empty()) return false;
  job.stream = it.stream;
  job.taken = gpu_->runtime().record(gpu_->device(), it.stream);
  job.files = it.step_state;
  job.done = [this, number = it.number](DecodeJob& j, std::optional<Error> failure, int64_t begin, int64_t end) {
    decoded(number, j, std::move(failure), begin, end);
  };
  state.job = std::move(job);
  return true;
}

bool Executor::hand_over(const std::shared_ptr<Iteration>& it) {
  const size_t step = it->step;
  if (plan.steps[step].kind != Step::Kind::decode || !it->step_state || it->failure || it->no_memory) return false;
  auto& state = *static_cast<DecodeState*>(it->step_state.get());
  if (!state.job) return false;
  DecodeJob job = std::move(*state.job);
  state.job.reset();
  {
    std::lock_guard lock(mutex_);
    it->waits = true;
  }
  decoders_.at(step)->add(std::move(job));
  return true;
}

void Executor::decoded(uint64_t number, DecodeJob& job, std::optional<Error> failure, int64_t begin_ns,
                       int64_t end_ns) {
  std::shared_ptr<Iteration> it;
  {
    std::lock_guard lock(mutex_);
    for (auto& other : queue_)
      if (other->number == number) it = other;
  }
  if (!it) return;  // an iteration stays in the queue until it is finished
  const auto count = static_cast<int64_t>(job.images.size());
  statistics.add(options.threads, static_cast<int>(it->step), number, begin_ns, end_ns, 0, 0, end_ns - begin_ns, 0);
  auto& state = *static_cast<DecodeState*>(it->step_state.get());
  if (failure) {
    fail_iteration(*it, std::move(*failure), &plan.graph.node(plan.steps[it->step].nodes[0]));
  } else {
    for (int64_t k = 0; k < count; ++k)
      if (job.images[k].error) state.again.push_back(state.in_job[k]);
  }
  if (!it->failure && !state.again.empty()) {
    {
      std::lock_guard lock(mutex_);
      it->items = static_cast<int64_t>(state.again.size());
      it->together = 1;
      it->next_item = it->done_items = 0;
      it->waits = false;
    }
    work_.notify_all();
    return;
  }
  release_values(*it);
  {
    std::lock_guard lock(mutex_);
    it->waits = false;
  }
  complete(it);
}

}  // namespace penstock
