// SPDX-License-Identifier: Apache-2.0
// Pipelines for C++17 and later. penstock/penstock.hpp includes it.
#pragma once
#include "penstock/graph.hpp"

namespace penstock {
inline namespace api {

// What happens for a sample that cannot be read: an error, a shorter batch, or another sample in its place.
enum class OnError { saved, raise, skip, replace };
// What becomes of a sample that is not ready when the others of its batch are: the batch waits, or it goes to a later
// one.
enum class Late { saved, wait, swap };
namespace detail {
inline constexpr const char* on_error_names[] = {nullptr, "raise", "skip", "replace"};
inline constexpr const char* late_names[] = {nullptr, "wait", "swap"};
}  // namespace detail

// How a pipeline runs.
struct PipelineOptions {  // zero keeps the saved value
  int batch_size = 0, threads = 0, prefetch = 0;
  uint64_t memory_limit = 0;
  Allocator allocator{};
  std::string entropy_index{};  // "off", "read", "auto" or a path
  OnError on_error = OnError::saved;
  int64_t error_budget = 0;     // samples that an epoch may lose; -1: any number
  bool uneven = false;          // permits "skip" with several shards
  std::optional<int> device{};  // the GPU's number, for operators that run on one; default: the first
  int64_t max_pixels = 0, max_frames = 0, max_samples = 0;  // limits for a picture, a sequence, a recording
  Late late = Late::saved;
};

// What a reader of a pipeline says of its data set.
struct ReaderMeta {
  int64_t epoch_size, epoch_size_padded, shard_size;
  int num_shards, shard_id;
  bool pad_last_batch, stick_to_shard;
};

// What is known of an output before a run.
struct OutputSpec {
  penstock_dtype dtype;  // PENSTOCK_NONE: not known
  int ndim;              // of a sample; -1: not known
  std::string layout;
  std::vector<int64_t> shape;  // of a sample; -1: an extent that is not known or may differ between samples
  bool on_gpu;                 // where the graph puts it
};

// A sample that on_error skipped or replaced.
struct LeftOut {
  int number;     // its index in the batch of its source: still 5 if sample 3 was skipped too
  int64_t batch;  // number of batches that the pipeline returned before this one
  uint64_t epoch;
  int64_t position;             // in the epoch
  std::string source, message;  // the file or record, or what else is known of it; the reason
};

// A graph that works ahead of the program, on threads of its own.
class Pipeline {
 public:
  // options.batch_size must be set.
  Pipeline(const Graph& graph, const std::vector<Value>& outputs, const PipelineOptions& options) {
    const auto o = c_options(options);
    penstock_pipeline* handle = nullptr;
    const detail::ValueHandles values(graph.handle(), outputs);
    check(penstock_pipeline_create(graph.handle(), values.data(), values.size(), &o, &handle));
    handle_ = owned(handle);
  }
  // From the JSON that save(), in C++ or in Python, wrote.
  static Pipeline load(const std::string& json, const PipelineOptions& options = {}) {
    const auto o = c_options(options);
    penstock_pipeline* handle = nullptr;
    check(penstock_pipeline_load(json.c_str(), &o, &handle));
    return Pipeline(handle);
  }
  static Pipeline load_file(const std::string& path, const PipelineOptions& options = {}) {
    return load(detail::text_of_file(path), options);
  }

  // The next batch of each output; throws Error with status PENSTOCK_ERROR_STOPPED at the end of the data.
  std::vector<Batch> run() {
    return run([] { return false; });
  }
  // The same. While it waits, it calls `stop` about every 50 ms; true ends the wait with PENSTOCK_ERROR_CANCELLED.
  template <class Stop> std::vector<Batch> run(const Stop& stop) {
    std::vector<Batch> out;
    if (!next(out, stop)) throw Error(PENSTOCK_ERROR_STOPPED, penstock_last_error());
    return out;
  }
  // Like run(), but returns false at the end of the data.
  bool next(std::vector<Batch>& out) {
    return next(out, [] { return false; });
  }
  template <class Stop> bool next(std::vector<Batch>& out, const Stop& stop) {
    penstock_run_options o{};
    o.struct_size = sizeof o;
    o.poll = [](void* user) { return static_cast<int>((*static_cast<const Stop*>(user))()); };
    o.poll_user = const_cast<Stop*>(&stop);
    const detail::Row<penstock_batch*> handles(static_cast<size_t>(info().num_outputs));
    std::vector<Batch> batches(handles.size());
    const penstock_status status = penstock_pipeline_run(handle(), &o, handles.data(), handles.size());
    if (status == PENSTOCK_ERROR_STOPPED) return false;
    check(status);
    for (size_t i = 0; i < batches.size(); ++i) batches[i] = Batch(handles[i]);
    out = std::move(batches);
    return true;
  }
  void feed(const std::string& name, const std::vector<Batch>& batches) {
    const detail::Row<const penstock_batch*> handles(batches.size());
    for (size_t i = 0; i < handles.size(); ++i) handles[i] = batches[i].handle();
    check(penstock_pipeline_feed(handle(), name.c_str(), handles.data(), handles.size()));
  }
  void reset() { check(penstock_pipeline_reset(handle())); }
  // In the middle of an epoch: ends it. The next batch is the first of the next epoch.
  void begin_epoch() { check(penstock_pipeline_begin_epoch(handle())); }
  // The next batch is number `batch` of `epoch`; see penstock_pipeline_seek.
  void seek(uint64_t epoch, int64_t batch, bool replay = false) {
    check(penstock_pipeline_seek(handle(), epoch, batch, replay));
  }
  // run() returns these batches of `epoch`, in this order; see penstock_pipeline_schedule.
  void schedule(const std::vector<int64_t>& batches, uint64_t epoch = 0) {
    check(penstock_pipeline_schedule(handle(), epoch, batches.data(), batches.size()));
  }
  // What the samples of the last batch drew, as JSON; the samples that come next draw it again. See
  // penstock_pipeline_replay.
  std::string params() const { return text(penstock_pipeline_params); }
  void replay(const std::string& params) { check(penstock_pipeline_replay(handle(), params.c_str())); }
  // The samples left out of the last batch, in order. statistics() counts those of all batches.
  std::vector<LeftOut> left_out() const {
    std::vector<LeftOut> list(static_cast<size_t>(info().num_left_out));
    for (size_t i = 0; i < list.size(); ++i) {
      penstock_left_out l{};
      l.struct_size = sizeof l;
      check(penstock_pipeline_get_left_out(handle(), i, &l));
      list[i] = {l.number, l.batch, l.epoch, l.position, l.source, l.message};
    }
    return list;
  }

  std::string checkpoint() const { return text(penstock_pipeline_checkpoint); }
  void restore(const std::string& json) { check(penstock_pipeline_restore(handle(), json.c_str())); }
  std::string save() const { return text(penstock_pipeline_save); }
  std::string statistics() const { return text(penstock_pipeline_statistics); }  // JSON
  std::string plan() const { return text(penstock_pipeline_plan); }
  // A Chrome trace of what was recorded since the first call of trace().
  std::string trace() {
    char* json = nullptr;
    check(penstock_pipeline_trace(handle(), &json));
    return detail::taken(json);
  }

  int batch_size() const { return info().batch_size; }
  int num_outputs() const { return info().num_outputs; }
  std::vector<OutputSpec> output_spec() const {
    std::vector<OutputSpec> all(static_cast<size_t>(num_outputs()));
    for (size_t i = 0; i < all.size(); ++i) {
      penstock_output_spec s{};
      s.struct_size = sizeof s;
      check(penstock_pipeline_get_output_spec(handle(), i, &s));
      all[i] = {s.dtype, s.ndim, s.layout, {s.shape, s.shape + (s.ndim < 0 ? 0 : s.ndim)}, s.on_gpu != 0};
    }
    return all;
  }
  int64_t batches_per_epoch() const { return info().batches_per_epoch; }
  ReaderMeta reader_meta(const std::string& name = {}) const {
    penstock_reader_meta m{};
    m.struct_size = sizeof m;
    check(penstock_pipeline_get_reader_meta(handle(), name.empty() ? nullptr : name.c_str(), &m));
    return {m.epoch_size, m.epoch_size_padded,   m.shard_size,         m.num_shards,
            m.shard_id,   m.pad_last_batch != 0, m.stick_to_shard != 0};
  }
  penstock_pipeline* handle() const { return static_cast<penstock_pipeline*>(handle_.get()); }

 private:
  explicit Pipeline(penstock_pipeline* handle) : handle_(owned(handle)) {}
  static std::shared_ptr<void> owned(penstock_pipeline* handle) {
    return detail::owned(handle, [](void* h) { penstock_pipeline_destroy(static_cast<penstock_pipeline*>(h)); });
  }
  static penstock_pipeline_options c_options(const PipelineOptions& options) {
    penstock_pipeline_options o{};
    o.struct_size = sizeof o;
    o.batch_size = options.batch_size, o.threads = options.threads, o.prefetch = options.prefetch;
    o.memory_limit = options.memory_limit;
    o.allocator = options.allocator.handle();
    if (!options.entropy_index.empty()) o.entropy_index = options.entropy_index.c_str();
    o.on_error = detail::on_error_names[static_cast<int>(options.on_error)];
    o.error_budget = options.error_budget, o.uneven = options.uneven;
    if (options.device) o.device = &*options.device;
    o.max_pixels = options.max_pixels, o.max_frames = options.max_frames, o.max_samples = options.max_samples;
    o.late = detail::late_names[static_cast<int>(options.late)];
    return o;
  }
  penstock_pipeline_info info() const {
    penstock_pipeline_info i{};
    i.struct_size = sizeof i;
    check(penstock_pipeline_get_info(handle(), &i));
    return i;
  }
  std::string text(penstock_status (*get)(const penstock_pipeline*, char**)) const {
    char* text = nullptr;
    check(get(handle(), &text));
    return detail::taken(text);
  }
  std::shared_ptr<void> handle_;
};

}  // namespace api
}  // namespace penstock
