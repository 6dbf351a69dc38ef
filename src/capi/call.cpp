// SPDX-License-Identifier: Apache-2.0
// Argument lists and calls: one path for every operator.
#include "exec/call.h"

#include "capi/edge.h"

namespace penstock {
namespace {

penstock_status set(penstock_arguments* list, const char* name, auto&& fill) {
  return guarded([&] {
    required(list, "arguments");
    penstock_arguments::Entry entry{&required(name, "name"), {}, nullptr, {}};
    fill(entry);
    for (auto& e : list->entries)
      if (e.name == entry.name) {
        e = std::move(entry);
        return;
      }
    list->entries.push_back(std::move(entry));
  });
}

template <class T> auto list_of(const T* values, size_t count) {
  if (count > (size_t{1} << 32)) bad_argument("{} values are too many", count);
  if (count > 0) required(values, "values");
  return std::vector<T>(values, values + count);
}

std::vector<Argument> resolve(const OpInfo& info, const penstock_arguments& list) {
  std::vector<Argument> args(info.args.size());
  for (const auto& e : list.entries) {
    if (e.ref.node >= 0) bad_argument("{} is a value of a graph; a call takes batches", e.name);
    const ArgInfo* a = info.arg(e.name);
    if (!a) {
      std::vector<std::string> names;
      for (const auto& known : info.args) names.push_back(known.name);
      fail(ErrorKind::key, "there is no argument '{}'{}", e.name, did_you_mean(e.name, names));
    }
    Argument& arg = args[static_cast<size_t>(a - info.args.data())];
    if (e.per_sample) arg.batch = e.per_sample.get();
    else arg.value = e.value;
  }
  return args;
}

}  // namespace
}  // namespace penstock

using namespace penstock;

penstock_status penstock_arguments_create(penstock_arguments** arguments) {
  return guarded([&] {
    required(arguments, "arguments");
    *arguments = new penstock_arguments;
  });
}
void penstock_arguments_destroy(penstock_arguments* arguments) { delete arguments; }
penstock_status penstock_arguments_clear(penstock_arguments* arguments) {
  return guarded([&] { required(arguments, "arguments").entries.clear(); });
}

penstock_status penstock_set_bool(penstock_arguments* arguments, const char* name, int value) {
  return set(arguments, name, [&](auto& e) { e.value = value != 0; });
}
penstock_status penstock_set_int(penstock_arguments* arguments, const char* name, int64_t value) {
  return set(arguments, name, [&](auto& e) { e.value = value; });
}
penstock_status penstock_set_float(penstock_arguments* arguments, const char* name, double value) {
  return set(arguments, name, [&](auto& e) { e.value = value; });
}
penstock_status penstock_set_string(penstock_arguments* arguments, const char* name, const char* value) {
  return set(arguments, name, [&](auto& e) { e.value = std::string(&required(value, "value")); });
}
penstock_status penstock_set_dtype(penstock_arguments* arguments, const char* name, penstock_dtype value) {
  return set(arguments, name, [&](auto& e) { e.value = static_cast<int64_t>(value); });
}
penstock_status penstock_set_ints(penstock_arguments* arguments, const char* name, const int64_t* values,
                                  size_t count) {
  return set(arguments, name, [&](auto& e) { e.value = list_of(values, count); });
}
penstock_status penstock_set_floats(penstock_arguments* arguments, const char* name, const double* values,
                                    size_t count) {
  return set(arguments, name, [&](auto& e) { e.value = list_of(values, count); });
}
penstock_status penstock_set_strings(penstock_arguments* arguments, const char* name, const char* const* values,
                                     size_t count) {
  return set(arguments, name, [&](auto& e) {
    std::vector<std::string> texts;
    for (const char* s : list_of(values, count)) texts.emplace_back(&required(s, "a string of the list"));
    e.value = std::move(texts);
  });
}
penstock_status penstock_set_per_sample(penstock_arguments* arguments, const char* name, const penstock_batch* values) {
  return set(arguments, name,
             [&](auto& e) { e.per_sample = std::make_unique<Batch>(required(values, "values").batch); });
}
penstock_status penstock_set_value(penstock_arguments* arguments, const char* name, penstock_value value) {
  return set(arguments, name, [&](auto& e) {
    if (value.node < 0 || value.output < 0)
      bad_argument("output {} of node {} is not a value", value.output, value.node);
    e.ref = {value.node, value.output};
  });
}

penstock_status penstock_count_outputs(const char* op, const penstock_arguments* arguments, size_t* count) {
  return guarded([&] {
    const OpInfo& info = get_op(&required(op, "the name of the operator"));
    required(count, "count");
    std::vector<Argument> args(info.args.size());
    static const Batch later;  // the values come with the call
    if (arguments)
      for (const auto& e : arguments->entries)
        if (const ArgInfo* a = info.arg(e.name)) {
          Argument& arg = args[static_cast<size_t>(a - info.args.data())];
          arg.value = e.value;
          if (e.per_sample || e.ref.node >= 0) arg.batch = &later;
        }
    const int n = outputs_of(info, args);
    if (n < 1 || n > 1024) bad_argument("{} outputs", n);
    *count = static_cast<size_t>(n);
  });
}

penstock_status penstock_call(const char* op, const penstock_batch* const* inputs, size_t num_inputs,
                              const penstock_arguments* arguments, const penstock_call_options* options,
                              penstock_batch** outputs, size_t num_outputs) {
  return guarded([&] {
    const OpInfo& info = get_op(&required(op, "the name of the operator"));
    try {
      const auto o = read_optional_struct(options, "options");
      forget_samples();
      if (num_outputs > 0) required(outputs, "outputs");
      if (o.batch_size < 0) bad_argument("batch_size is {}", o.batch_size);
      const std::vector<Batch> in = take_batches(inputs, num_inputs, "inputs");
      std::vector<const Batch*> into;
      for (size_t i = 0; o.into && i < num_outputs; ++i) into.push_back(o.into[i] ? &o.into[i]->batch : nullptr);
      const auto args = arguments ? resolve(info, *arguments) : std::vector<Argument>(info.args.size());
      std::vector<Argument> named;
      if (in.size() > static_cast<size_t>(info.max_inputs)) {  // the last inputs are values of arguments
        const std::vector<int> places = argument_inputs(info, static_cast<int>(in.size()), args);
        named = args;
        for (size_t k = 0; k < places.size(); ++k) named[places[k]].batch = &in[in.size() - places.size() + k];
      }
      if (const int gives = outputs_of(info, named.empty() ? args : named); num_outputs != static_cast<size_t>(gives))
        bad_argument("has {} outputs, but the caller has room for {}", gives, num_outputs);
      const SampleContext context{0, o.seed, o.epoch, o.first_sample, {0, o.node ? o.node : kSeeded}};
      CallPlace place;
      if (device_of(o.device_kind, o.device_id).kind == DeviceKind::gpu) place.gpu = o.device_id;
      place.stream = stream_of(o.stream);
      auto results = call_op(info, in, args, context, memory_of(o.allocator), o.batch_size ? o.batch_size : 1, into,
                             &place, o.statuses ? &sample_errors() : nullptr, o.statuses ? &sample_lacks() : nullptr);
      if (o.statuses) tell_statuses(o.statuses, o.num_statuses);
      give_batches(std::move(results), outputs);
    } catch (Error& e) {
      if (e.op.empty()) e.op = info.name;
      throw;
    }
  });
}
