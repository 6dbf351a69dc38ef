// SPDX-License-Identifier: Apache-2.0
// A graph as a function, for C++17 and later. penstock/penstock.hpp includes it.
#pragma once
#include "penstock/graph.hpp"

namespace penstock {
inline namespace api {

// Limits, the GPU and the threads of a function.
struct FunctionOptions {        // zero keeps the saved value
  std::optional<int> device{};  // the GPU's number, for operators that run on one; default: the first
  int64_t max_pixels = 0, max_frames = 0, max_samples = 0;  // limits for a picture, a sequence, a recording
  int num_threads = 1;  // that share each picture of a call, with the caller's; of several calls at once, one has them
};

// An input or an output, as far as it is known before a call.
struct FunctionValue {
  std::string name;  // of the external_source; empty for an output
  DType dtype = DType::none;
  int ndim = -1;  // -1: not known
  std::string layout;
  bool on_gpu = false;
};

// Where the results of a call of a function go.
struct FunctionCallOptions {
  // Memory for the results, in any strides; empty, or one for each output (an empty Batch: new memory).
  std::vector<Batch> into{};
  // If set, a sample whose data cannot be read does not end the call: the others are computed, and the status of each
  // sample is put here.
  std::vector<SampleStatus>* statuses = nullptr;
  uint64_t epoch = 0, first_sample = 0;  // the key of random operators, as in a pipeline
  int batch_size = 1;                    // for a function without inputs
  void* stream = nullptr;                // of the GPU; the call is enqueued on it
  Allocator allocator{};                 // for the results
};

// A graph that the program calls: planned and fused as a pipeline is, with the same bytes, but on the caller's thread,
// which other threads help if options.num_threads asks for them.
// Several threads may call it at once.
//
//   const Function f = Function::load_file("preprocess.json");
//   f({jpegs}, {tensor});  // into memory of the program
class Function {
 public:
  Function(const Graph& graph, const std::vector<Value>& outputs, const FunctionOptions& options = {}) {
    const auto o = c_options(options);
    penstock_function* handle = nullptr;
    const detail::ValueHandles results(graph.handle(), outputs);
    check(penstock_function_create(graph.handle(), results.data(), results.size(), &o, &handle));
    handle_ = owned(handle);
    read_info();
  }
  // From the JSON of a pipeline that save(), in C++ or in Python, wrote.
  static Function load(const std::string& json, const FunctionOptions& options = {}) {
    const auto o = c_options(options);
    penstock_function* handle = nullptr;
    check(penstock_function_load(json.c_str(), &o, &handle));
    return Function(handle);
  }
  static Function load_file(const std::string& path, const FunctionOptions& options = {}) {
    return load(detail::text_of_file(path), options);
  }

  // The results, one batch for each output; an empty one where options.into has memory.
  std::vector<Batch> operator()(const std::vector<Batch>& inputs, const FunctionCallOptions& options = {}) const {
    const detail::Row<penstock_batch*> handles(static_cast<size_t>(num_outputs_));
    std::vector<Batch> results(handles.size());
    call(inputs, options.into, options, handles.data());
    for (size_t i = 0; i < results.size(); ++i)
      if (handles[i]) results[i] = Batch(handles[i]);
    return results;
  }
  // Writes all results into memory of the program. Such a call, with batches that were made before
  // (Batch::set_sample), allocates nothing here.
  void operator()(const std::vector<Batch>& inputs, const std::vector<Batch>& into,
                  std::vector<SampleStatus>* statuses = nullptr) const {
    FunctionCallOptions options;
    options.statuses = statuses;
    call(inputs, into, options, nullptr);
  }

  int num_inputs() const { return num_inputs_; }
  int num_outputs() const { return num_outputs_; }
  std::vector<FunctionValue> inputs() const { return values(penstock_function_get_input, num_inputs_); }
  std::vector<FunctionValue> outputs() const { return values(penstock_function_get_output, num_outputs_); }
  // How the graph was grouped into stages; for human readers.
  std::string plan() const {
    char* text = nullptr;
    check(penstock_function_plan(handle(), &text));
    return detail::taken(text);
  }
  penstock_function* handle() const { return static_cast<penstock_function*>(handle_.get()); }

 private:
  explicit Function(penstock_function* handle) : handle_(owned(handle)) { read_info(); }
  static std::shared_ptr<void> owned(penstock_function* handle) {
    return detail::owned(handle, [](void* h) { penstock_function_destroy(static_cast<penstock_function*>(h)); });
  }
  static penstock_function_options c_options(const FunctionOptions& options) {
    penstock_function_options o{};
    o.struct_size = sizeof o;
    if (options.device) o.device = &*options.device;
    o.num_threads = options.num_threads;
    o.max_pixels = options.max_pixels, o.max_frames = options.max_frames, o.max_samples = options.max_samples;
    return o;
  }
  void read_info() {
    penstock_function_info i{};
    i.struct_size = sizeof i;
    check(penstock_function_get_info(handle(), &i));
    num_inputs_ = i.num_inputs, num_outputs_ = i.num_outputs;
  }
  template <class Get> std::vector<FunctionValue> values(Get get, int count) const {
    std::vector<FunctionValue> all(static_cast<size_t>(count));
    for (size_t k = 0; k < all.size(); ++k) {
      penstock_function_value v{};
      v.struct_size = sizeof v;
      check(get(handle(), k, &v));
      all[k] = {v.name, static_cast<DType>(v.dtype), v.ndim, v.layout, v.device_kind == PENSTOCK_GPU};
    }
    return all;
  }
  // Handles of batches, without an allocation for the usual number of them.
  class Handles {
   public:
    explicit Handles(const std::vector<Batch>& batches) : many_(batches.size() > few ? batches.size() : 0) {
      const penstock_batch** to = many_.size() ? many_.data() : few_;
      for (size_t i = 0; i < batches.size(); ++i) to[i] = batches[i].handle();
    }
    const penstock_batch* const* data() const { return many_.size() ? many_.data() : few_; }

   private:
    static constexpr size_t few = 8;
    const penstock_batch* few_[few] = {};
    detail::Row<const penstock_batch*> many_;
  };
  void call(const std::vector<Batch>& inputs, const std::vector<Batch>& into, const FunctionCallOptions& options,
            penstock_batch** results) const {
    if (!into.empty() && into.size() != static_cast<size_t>(num_outputs_))
      throw Error(PENSTOCK_ERROR_ARGUMENT, "into needs one batch for each output");
    for (const Batch& b : into)
      if (b.read_only()) throw Error(PENSTOCK_ERROR_ARGUMENT, "into holds a batch over const memory");
    const Handles in(inputs), targets(into);
    penstock_function_call_options o{};
    o.struct_size = sizeof o;
    o.allocator = options.allocator.handle();
    o.into = into.empty() ? nullptr : targets.data();
    o.epoch = options.epoch, o.first_sample = options.first_sample;
    o.batch_size = options.batch_size, o.stream = options.stream;
    const int samples = !options.statuses ? 0 : inputs.empty() ? options.batch_size : inputs[0].size();
    const detail::Row<penstock_status> statuses(samples > 0 ? static_cast<size_t>(samples) : 0);
    o.statuses = statuses.data(), o.num_statuses = statuses.size();
    check(penstock_function_call(handle(), in.data(), inputs.size(), &o, results, static_cast<size_t>(num_outputs_)));
    if (!options.statuses) return;
    *options.statuses = detail::statuses_of(statuses);
  }

  std::shared_ptr<void> handle_;
  int num_inputs_ = 0, num_outputs_ = 0;
};

}  // namespace api
}  // namespace penstock
