// SPDX-License-Identifier: Apache-2.0
// Graphs of operators, for C++17 and later. penstock/penstock.hpp includes it.
#pragma once
#include <cstdio>

#include "penstock/arguments.hpp"

namespace penstock {
inline namespace api {

class Graph;
namespace detail {
std::vector<penstock_value> handles_of(const Graph& graph, const std::vector<Value>& values);
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
    handle_.reset(handle, penstock_graph_destroy);
  }
  // num_outputs 0: as many as the operator has with these arguments. device "": where the inputs are.
  std::vector<Value> add(const char* op, const std::vector<Value>& inputs, const Arguments& arguments = {},
                         const std::string& name = {}, int num_outputs = 0, const std::string& device = {}) {
    size_t count = static_cast<size_t>(num_outputs);
    if (num_outputs <= 0) check(penstock_count_outputs(op, arguments.handle(), &count));
    std::vector<penstock_value> outputs(count);
    check(penstock_graph_set_device(handle(), device.empty() ? nullptr : device.c_str()));
    const auto values = detail::handles_of(*this, inputs);
    check(penstock_graph_add(handle(), op, name.empty() ? nullptr : name.c_str(), values.data(), values.size(),
                             arguments.handle(), outputs.data(), outputs.size()));
    std::vector<Value> made;
    for (const penstock_value& v : outputs) made.push_back({v.node, v.output, handle_});
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
inline std::vector<penstock_value> handles_of(const Graph& graph, const std::vector<Value>& values) {
  std::vector<penstock_value> all;
  for (const Value& v : values) {
    if (v.graph && v.graph.get() != graph.handle())
      throw Error(PENSTOCK_ERROR_ARGUMENT, "a value belongs to another graph");
    all.push_back(v.handle());
  }
  return all;
}
// Of a saved pipeline.
inline std::string text_of_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) throw Error(PENSTOCK_ERROR_FILE_MISSING, "cannot open " + path);
  std::string text;
  char part[4096];
  while (const size_t n = std::fread(part, 1, sizeof part, file.get())) text.append(part, n);
  if (std::ferror(file.get())) throw Error(PENSTOCK_ERROR_DATA, "cannot read " + path);
  return text;
}
// What the calls of fn.h with a Value are made of.
inline std::vector<Value> add_all(const char* op, std::initializer_list<const Value*> inputs,
                                  const Arguments& arguments, const NodeOptions& options) {
  std::vector<Value> values;
  for (const Value* v : inputs) values.push_back(*v);
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
