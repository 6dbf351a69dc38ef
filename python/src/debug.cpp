// SPDX-License-Identifier: Apache-2.0
// SteppingGraph for debug=True (penstock/_debugging), and one operator with the random numbers of a pipeline's node,
// for the log of steps (penstock/_pipeline/step_log.py).
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "exec/call.h"
#include "exec/stepping_graph.h"
#include "interop.h"
#include "node_ref.h"
#include "user_code.h"

namespace penstock::python {
namespace {

std::vector<Batch> batches_of(nb::list list) {
  std::vector<Batch> batches;
  for (nb::handle b : list) batches.push_back(*nb::inst_ptr<Batch>(b));
  return batches;
}

nb::list list_of(std::vector<Batch>&& batches) {
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

// (epoch, position, file, child) of a sample.
SampleOrigin origin_of(nb::handle o) {
  SampleOrigin made;
  made.epoch = nb::cast<uint64_t>(o[0]), made.position = nb::cast<uint64_t>(o[1]);
  made.path = nb::cast<std::string>(o[2]), made.child = nb::cast<uint64_t>(o[3]);
  return made;
}

nb::list list_of(const std::vector<SampleOrigin>& origins) {
  nb::list list;
  for (const SampleOrigin& o : origins) list.append(nb::make_tuple(o.epoch, o.position, o.path, o.child));
  return list;
}

// values: [(NodeRef, Batch)]. function: that of a python_function or numba_function node, or None. Gives (batches,
// which sample each one was made of, origins); the last two are of nodes that change samples. None: a filter leaves too
// few.
nb::object run_node(SteppingGraph& s, const Graph& graph, int node, nb::list values, nb::list origins,
                    std::vector<int> places, uint64_t trips_key, bool in_body, nb::object function) {
  SteppedInputs in;
  in.places = std::move(places), in.trips_key = trips_key, in.in_body = in_body;
  for (nb::handle v : values)
    in.values[nb::cast<const NodeRef&>(v[0]).value()] = *nb::inst_ptr<Batch>(nb::object(v[1]));
  for (nb::handle o : origins) in.origin.push_back(origin_of(o));
  const auto raised = std::make_shared<RaisedErrors>();
  if (nb::hasattr(function, "run_address")) in.function = compiled_callback(function);
  else if (!function.is_none()) in.function = python_callback(function, raised);
  const auto callback = in.function;  // with its end, what it has raised is gone
  SteppedOutputs out;
  try {
    ReleaseGil release;
    out = s.run(graph, node, std::move(in));
  } catch (const Error& e) {
    if (auto error = raised->take(e.what())) throw nb::python_error(std::move(*error));
    throw;
  }
  if (out.left_out) return nb::none();
  return nb::make_tuple(list_of(std::move(out.batches)), out.from, list_of(out.origin));
}

}  // namespace

void bind_debug(nb::module_& m) {
  m.def("run_operator", &run_operator);
  nb::class_<SteppingGraph>(m, "SteppingGraph")
      .def("__init__",
           [](SteppingGraph* self, int batch_size, int device, int64_t max_pixels, int64_t max_frames,
              int64_t max_samples) {
             PipelineOptions o;
             o.batch_size = batch_size, o.device = device;
             o.max_pixels = max_pixels, o.max_frames = max_frames, o.max_samples = max_samples;
             new (self) SteppingGraph(std::move(o));
           })
      .def("run", &run_node, nb::arg("graph"), nb::arg("node"), nb::arg("values"), nb::arg("origins"),
           nb::arg("places"), nb::arg("trips_key"), nb::arg("in_body"), nb::arg("function").none());
}

}  // namespace penstock::python
