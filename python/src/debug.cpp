// SPDX-License-Identifier: Apache-2.0
// Runs one operator immediately with the random numbers of a pipeline's node: for debug=True
// (penstock/debugging/run.py).
#include "bindings.h"
#include "exec/call.h"
#include "interop.h"
#include "user_code.h"

namespace penstock::python {
namespace {

std::vector<Batch> batches_of(nb::list list) {
  std::vector<Batch> batches;
  for (nb::handle b : list) batches.push_back(*nb::inst_ptr<Batch>(b));
  return batches;
}

nb::list list_of(std::vector<Batch> batches) {
  nb::list list;
  for (auto& b : batches) list.append(nb::cast(std::move(b)));
  return list;
}

nb::list run_operator(const std::string& name, nb::list inputs, nb::dict arguments, uint64_t change, uint64_t epoch,
                      uint64_t position, nb::tuple draws, int size, int gpu, const std::string& user_line) {
  try {
    const OpInfo& info = get_op(name);
    const std::vector<Batch> in = batches_of(inputs);
    std::vector<Argument> values(info.args.size());
    for (auto [key, value] : arguments)
      for (size_t i = 0; i < values.size(); ++i) {
        if (value.is_none() || info.args[i].name != nb::cast<std::string>(key)) continue;
        if (kind_of(value.ptr()) == Kind::batch) values[i].batch = nb::inst_ptr<Batch>(value);
        else values[i].value = value_from(value.ptr(), info.args[i]);
      }
    SampleContext context;
    context.seed = change, context.epoch = epoch, context.sample = position;
    context.draws = {nb::cast<uint64_t>(draws[0]), nb::cast<uint32_t>(draws[1])};
    CallPlace place;
    place.gpu = gpu;
    std::vector<Batch> out;
    {
      ReleaseGil release;
      out = call_op(info, in, values, context, default_memory(), size, {}, &place);
    }
    return list_of(std::move(out));
  } catch (Error& e) {
    if (e.op.empty()) e.op = name;
    e.user_line = user_line;
    throw;
  }
}

nb::list call_compiled(nb::handle code, nb::list inputs, nb::list origins, const std::string& user_line) {
  try {
    const std::vector<Batch> in = batches_of(inputs);
    CallRequest request;
    std::vector<SampleOrigin> from;
    for (nb::handle o : origins) {
      from.push_back({nb::cast<uint64_t>(o[0]), nb::cast<uint64_t>(o[1]), -1, {}});
      request.places.push_back(nb::cast<int>(o[2]));
    }
    request.inputs = in, request.origin = from, request.size = static_cast<int>(from.size());
    std::vector<SampleError> bad;
    return list_of(compiled_callback(code)->call(request, bad));
  } catch (Error& e) {
    e.op = "numba_function", e.user_line = user_line;
    throw;
  }
}

}  // namespace

void bind_debug(nb::module_& m) {
  m.def("run_operator", &run_operator);
  m.def("call_compiled", &call_compiled);
}

}  // namespace penstock::python
