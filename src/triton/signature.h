// SPDX-License-Identifier: Apache-2.0
// The inputs and outputs of a model: what the graph says of them, and what the configuration of the model adds.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "graph/graph.h"
#include "triton/server_api.h"

namespace penstock::triton {

struct TensorOfModel {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  ValueType own;               // as far as the graph knows it
  std::optional<Shape> shape;  // of a sample, -1: not known; none: the number of dimensions is not known
  bool on_gpu = false;
  int node = -1;  // of an input: its source
  bool video = false;
};

struct Signature {
  std::vector<TensorOfModel> inputs, outputs;
  bool takes_videos() const;
};

// Of a graph. shapes: of its outputs.
Signature signature_of(const Graph& graph, const std::vector<std::optional<Shape>>& shapes);

// Takes names and types that the configuration has, after a check against the graph, and writes what it lacks into it.
// batch_size: what max_batch_size becomes where it is not set.
void complete(nlohmann::json& config, Signature& signature, int batch_size);

}  // namespace penstock::triton
