// SPDX-License-Identifier: Apache-2.0
#include "function/function.h"

#include <array>

#include "capi/edge.h"

struct penstock_function {
  std::unique_ptr<penstock::Function> function;
};

using namespace penstock;

namespace {

const Function& of(const penstock_function* f) { return *required(f, "function").function; }

FunctionOptions options_of(const penstock_function_options* given) {
  const auto o = read_optional_struct(given, "options");
  FunctionOptions made;
  if (o.device) made.device = *o.device;
  made.num_threads = o.num_threads;
  made.max_pixels = o.max_pixels, made.max_frames = o.max_frames, made.max_samples = o.max_samples;
  return made;
}

penstock_status give_value(const std::vector<FunctionValue>& values, size_t index, const char* what,
                           penstock_function_value* value) {
  return guarded([&] {
    if (index >= values.size()) bad_argument("{} {} does not exist: there are {}", what, index, values.size());
    const FunctionValue& from = values[index];
    penstock_function_value v{};
    v.name = from.name.c_str();
    v.dtype = static_cast<penstock_dtype>(from.type.dtype);
    v.ndim = from.type.ndim;
    const std::string layout = from.type.layout.str();
    std::memcpy(v.layout, layout.c_str(), std::min(layout.size() + 1, sizeof v.layout));
    v.device_kind = from.on_gpu ? PENSTOCK_GPU : PENSTOCK_CPU;
    write_struct(value, v, "value");
  });
}

// Pointers to the batches of handles, without an allocation for the usual numbers of them.
class Batches {
 public:
  Batches(const penstock_batch* const* handles, size_t count, const char* what, bool may_miss) {
    if (count > 4096) bad_argument("{} has {} batches", what, count);
    if (count > few_.size()) many_.resize(count);
    const Batch** to = count > few_.size() ? many_.data() : few_.data();
    for (size_t i = 0; i < count; ++i) {
      if (!handles[i] && !may_miss) bad_argument("{}[{}] is NULL", what, i);
      to[i] = handles[i] ? &handles[i]->batch : nullptr;
    }
    all_ = {to, count};
  }
  Batches(const Batches&) = delete;
  std::span<const Batch* const> all() const { return all_; }

 private:
  std::array<const Batch*, 16> few_{};
  std::vector<const Batch*> many_;
  std::span<const Batch* const> all_;
};

}  // namespace

penstock_status penstock_function_create(const penstock_graph* graph, const penstock_value* outputs, size_t num_outputs,
                                         const penstock_function_options* options, penstock_function** function) {
  return guarded([&] {
    required(function, "function");
    Graph g = required(graph, "graph").graph;
    if (num_outputs == 0) bad_argument("a function needs at least one output");
    std::vector<ValueRef> values;
    required(outputs, "outputs");
    for (size_t i = 0; i < num_outputs; ++i) values.push_back({outputs[i].node, outputs[i].output});
    g.set_outputs(std::move(values));
    auto handle = std::make_unique<penstock_function>();
    handle->function = std::make_unique<Function>(std::move(g), options_of(options));
    *function = handle.release();
  });
}

penstock_status penstock_function_load(const char* json, const penstock_function_options* options,
                                       penstock_function** function) {
  return guarded([&] {
    required(function, "function");
    const std::string text = &required(json, "json");
    auto handle = std::make_unique<penstock_function>();
    handle->function = Function::from_json(text, options_of(options));
    *function = handle.release();
  });
}

void penstock_function_destroy(penstock_function* function) { delete function; }

penstock_status penstock_function_get_info(const penstock_function* function, penstock_function_info* info) {
  return guarded([&] {
    const Function& f = of(function);
    penstock_function_info i{};
    i.num_inputs = static_cast<int>(f.inputs().size());
    i.num_outputs = static_cast<int>(f.outputs().size());
    write_struct(info, i, "info");
  });
}

penstock_status penstock_function_get_input(const penstock_function* function, size_t index,
                                            penstock_function_value* value) {
  return guarded([&] { of(function); }) != PENSTOCK_OK ? PENSTOCK_ERROR_ARGUMENT
                                                       : give_value(of(function).inputs(), index, "input", value);
}

penstock_status penstock_function_get_output(const penstock_function* function, size_t index,
                                             penstock_function_value* value) {
  return guarded([&] { of(function); }) != PENSTOCK_OK ? PENSTOCK_ERROR_ARGUMENT
                                                       : give_value(of(function).outputs(), index, "output", value);
}

penstock_status penstock_function_call(const penstock_function* function, const penstock_batch* const* inputs,
                                       size_t num_inputs, const penstock_function_call_options* options,
                                       penstock_batch** outputs, size_t num_outputs) {
  return guarded([&] {
    forget_samples();
    const Function& f = of(function);
    const auto o = read_optional_struct(options, "options");
    if (o.batch_size < 0) bad_argument("batch_size is {}", o.batch_size);
    if (num_inputs > 0) required(inputs, "inputs");
    if (num_outputs != f.outputs().size())
      bad_argument("the function has {} outputs, but the caller has room for {}", f.outputs().size(), num_outputs);
    for (size_t k = 0; !outputs && k < num_outputs; ++k)
      if (!o.into || !o.into[k]) bad_argument("outputs is NULL, but output {} has no memory in options.into", k);
    const Batches in(inputs, num_inputs, "inputs", false), into(o.into, o.into ? num_outputs : 0, "into", true);
    FunctionCall call{in.all(), into.all(), o.epoch, o.first_sample, o.batch_size, nullptr, stream_of(o.stream)};
    if (o.allocator) call.memory = memory_of(o.allocator);
    if (o.statuses) call.errors = &sample_errors(), call.lacks = &sample_lacks();
    std::array<Batch, 4> few;
    std::vector<Batch> many(num_outputs > few.size() ? num_outputs : 0);
    const std::span<Batch> results(many.empty() ? few.data() : many.data(), num_outputs);
    f.call(call, results);
    if (o.statuses) tell_statuses(o.statuses, o.num_statuses);
    if (!outputs) return;
    std::vector<std::unique_ptr<penstock_batch>> handles(num_outputs);
    for (size_t k = 0; k < num_outputs; ++k)
      if (!o.into || !o.into[k]) handles[k] = std::make_unique<penstock_batch>(penstock_batch{std::move(results[k])});
    for (size_t k = 0; k < num_outputs; ++k) outputs[k] = handles[k].release();
  });
}

penstock_status penstock_function_plan(const penstock_function* function, char** text) {
  return guarded([&] {
    required(text, "the pointer for the text");
    *text = copy_text(of(function).plan().text());
  });
}
