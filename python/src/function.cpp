// SPDX-License-Identifier: Apache-2.0
// Function for penstock/_function.py, which has its Python interface.
#include "function/function.h"

#include <nanobind/stl/unique_ptr.h>

#include "bindings.h"
#include "interop.h"

namespace penstock::python {
namespace {

nb::list list_of_values(const std::vector<FunctionValue>& values) {
  nb::list l;
  for (const FunctionValue& v : values)
    l.append(nb::make_tuple(v.name, static_cast<int>(v.type.dtype), v.type.ndim, v.type.layout.str(), v.on_gpu));
  return l;
}

std::vector<const Batch*> batches_of(nb::list batches) {
  std::vector<const Batch*> all;
  for (nb::handle b : batches) all.push_back(b.is_none() ? nullptr : nb::inst_ptr<Batch>(b));
  return all;
}

// For each sample what Python raises for its error, or None.
nb::list exceptions_of(std::vector<std::optional<Error>>& errors) {
  nb::list l;
  for (auto& e : errors) {
    if (!e) {
      l.append(nb::none());
      continue;
    }
    try {
      throw *e;
    } catch (...) {
      set_python_error();
    }
    const nb::python_error raised;
    l.append(raised.value());
  }
  return l;
}

// (results, errors): a result is None where `into` has memory for it; errors is None unless `each`.
nb::tuple call_function(const Function& f, nb::list inputs, nb::list into, uint64_t epoch, uint64_t first_sample,
                        int size, uintptr_t stream, bool each) {
  const auto in = batches_of(inputs), targets = batches_of(into);
  std::vector<Batch> results(f.outputs().size());
  std::vector<std::optional<Error>> errors;
  FunctionCall call{in, targets, epoch, first_sample, size, nullptr, nullptr};
  if (stream) call.stream = stream_of_number(stream);
  if (each) call.errors = &errors;
  {
    ReleaseGil release;
    f.call(call, results);
  }
  tell_notices();
  nb::list out;
  for (size_t k = 0; k < results.size(); ++k) {
    if (!targets.empty() && targets[k]) out.append(nb::none());
    else out.append(nb::cast(std::move(results[k])));
  }
  return nb::make_tuple(out, each ? nb::object(exceptions_of(errors)) : nb::object(nb::none()));
}

FunctionOptions options_of(int device, int64_t max_pixels, int64_t max_frames, int64_t max_samples, int threads) {
  return {device, max_pixels, max_frames, max_samples, threads};
}

}  // namespace

void bind_function(nb::module_& m) {
  nb::class_<Function>(m, "Function")
      .def(
          "__init__",
          [](Function* self, const Graph& g, int device, int64_t max_pixels, int64_t max_frames, int64_t max_samples,
             int threads) { new (self) Function(g, options_of(device, max_pixels, max_frames, max_samples, threads)); })
      .def_static("from_json",
                  [](const std::string& text, int device, int64_t max_pixels, int64_t max_frames, int64_t max_samples,
                     int threads) {
                    return Function::from_json(text, options_of(device, max_pixels, max_frames, max_samples, threads));
                  })
      .def("inputs", [](const Function& f) { return list_of_values(f.inputs()); })
      .def("outputs", [](const Function& f) { return list_of_values(f.outputs()); })
      .def("plan_text", [](const Function& f) { return f.plan().text(); })
      .def("call", &call_function);
}

}  // namespace penstock::python
