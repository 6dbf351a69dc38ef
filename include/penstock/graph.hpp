// SPDX-License-Identifier: Apache-2.0
// Graphs of operators, for C++17 and later. penstock/penstock.hpp includes it.
#pragma once
#include <cstdio>

#include "penstock/arguments.hpp"

namespace penstock {
inline namespace api {

namespace detail {
// The handles of values of one graph.
class ValueHandles : public Row<penstock_value> {
 public:
  ValueHandles(const penstock_graph* graph, const std::vector<Value>& values) : Row(values.size()) {
    for (size_t i = 0; i < size(); ++i) {
      if (values[i].graph && values[i].graph.get() != graph)
        throw Error(PENSTOCK_ERROR_ARGUMENT, "a value belongs to another graph");
      data()[i] = values[i].handle();
    }
  }
};
}  // namespace detail

// Where and as what an operator of a graph runs.
struct NodeOptions {
  std::string name{};  // readers and external sources are looked up by it
  std::string
      device{};         // "cpu", "gpu", or "mixed" for decoders whose output is on the GPU; empty: where its inputs are
  int num_outputs = 0;  // of an external_source; 0: what the operator has with its arguments
};

// Calls of penstock/fn.h add operators: fn::resize(images, {.size = {224, 224}}) for a Value of the graph, and
// fn::readers::file(graph, {...}) for what has no input. add() does it by name.
class Graph {
 public:
  explicit Graph(uint64_t seed = 0) {
    penstock_graph* handle = nullptr;
    check(penstock_graph_create(seed, &handle));
    handle_ = {detail::owned(handle, [](void* h) { penstock_graph_destroy(static_cast<penstock_graph*>(h)); }), handle};
  }
  // num_outputs 0: as many as the operator has with these arguments. device "": where the inputs are.
  std::vector<Value> add(const char* op, const std::vector<Value>& inputs, const Arguments& arguments = {},
                         const std::string& name = {}, int num_outputs = 0, const std::string& device = {}) {
    size_t count = static_cast<size_t>(num_outputs);
    if (num_outputs <= 0) check(penstock_count_outputs(op, arguments.handle(), &count));
    const detail::Row<penstock_value> outputs(count);
    check(penstock_graph_set_device(handle(), device.empty() ? nullptr : device.c_str()));
    const detail::ValueHandles values(handle(), inputs);
    check(penstock_graph_add(handle(), op, name.empty() ? nullptr : name.c_str(), values.data(), values.size(),
                             arguments.handle(), outputs.data(), outputs.size()));
    std::vector<Value> made(count);
    for (size_t i = 0; i < count; ++i) made[i] = {outputs[i].node, outputs[i].output, handle_};
    return made;
  }
  penstock_graph* handle() const { return handle_.get(); }

  std::vector<Value> add(const char* op, const std::vector<Value>& inputs, const Arguments& arguments,
                         const NodeOptions& options) {
    return add(op, inputs, arguments, options.name, options.num_outputs, options.device);
  }
  // The graph that a value belongs to.
  static Graph of(const Value& value) {
    if (!value.graph) throw Error(PENSTOCK_ERROR_ARGUMENT, "the value belongs to no graph");
    return Graph(value.graph);
  }

 private:
  explicit Graph(std::shared_ptr<penstock_graph> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<penstock_graph> handle_;
};

namespace detail {
// Of a saved pipeline.
inline std::string text_of_file(const std::string& path) {
  struct File {
    std::FILE* stream;
    ~File() {
      if (stream) std::fclose(stream);
    }
  } const file{std::fopen(path.c_str(), "rb")};
  if (!file.stream) throw Error(PENSTOCK_ERROR_FILE_MISSING, "cannot open " + path);
  std::string text;
  char part[4096];
  while (const size_t n = std::fread(part, 1, sizeof part, file.stream)) text.append(part, n);
  if (std::ferror(file.stream)) throw Error(PENSTOCK_ERROR_DATA, "cannot read " + path);
  return text;
}
// What the calls of fn.h with a Value are made of.
inline std::vector<Value> add_all(const char* op, std::initializer_list<const Value*> inputs,
                                  const Arguments& arguments, const NodeOptions& options) {
  std::vector<Value> values(inputs.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = *inputs.begin()[i];
  return Graph::of(values[0]).add(op, values, arguments, options);
}
inline Value add_one(const char* op, std::initializer_list<const Value*> inputs, const Arguments& arguments,
                     const NodeOptions& options) {
  return std::move(add_all(op, inputs, arguments, options)[0]);
}
inline std::vector<Value> add_list(const char* op, const std::vector<Value>& inputs, const Arguments& arguments,
                                   const NodeOptions& options) {
  if (inputs.empty()) throw Error(PENSTOCK_ERROR_ARGUMENT, "there are no inputs");
  return Graph::of(inputs[0]).add(op, inputs, arguments, options);
}
}  // namespace detail

}  // namespace api
}  // namespace penstock
