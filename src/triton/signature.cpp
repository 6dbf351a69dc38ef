// SPDX-License-Identifier: Apache-2.0
#include "triton/signature.h"

#include <algorithm>

#include "base/error.h"
#include "triton/element_types.h"

namespace penstock::triton {
namespace {

using Json = nlohmann::json;

// An input without a declared type is taken as files, which is what most pipelines of servers begin with.
bool is_bytes(const ValueType& t) {
  return (t.dtype == DType::none || t.dtype == DType::uint8) && (t.ndim < 0 || t.ndim == 1);
}

// batched: the server adds the dimension that counts samples (max_batch_size is not 0).
Json dims_of(const TensorOfModel& t, bool batched) {
  if (t.type == TRITONSERVER_TYPE_BYTES) return Json::array({1});
  Json dims = Json::array();
  if (!batched) dims.push_back(-1);
  for (int64_t extent : *t.shape) dims.push_back(extent);
  if (t.shape->empty()) dims.push_back(1);  // a number has one element: the server knows no tensor without dimensions
  return dims;
}

void check_dims(const Json& dims, const TensorOfModel& t, const char* what, bool batched) {
  if (!t.shape) return;
  const size_t rank = static_cast<size_t>(std::max(1, t.shape->size()) + !batched);
  if (dims.size() != rank)
    bad_type("{} '{}': config.pbtxt has {} dims, but {}a sample has {} dimensions", what, t.name, dims.size(),
             batched ? "" : "beside the one that counts samples ", rank - !batched);
  for (int d = 0; d < t.shape->size(); ++d) {
    const Json& given = dims[static_cast<size_t>(d + !batched)];
    const int64_t known = (*t.shape)[d];
    if (given.is_number_integer() && given.get<int64_t>() >= 0 && known >= 0 && given.get<int64_t>() != known)
      bad_argument("{} '{}': config.pbtxt has dims {}, but a sample has the shape {}", what, t.name, dims.dump(),
                   t.shape->text());
  }
}

// What the configuration says of a tensor, checked and completed. `what`: "input" or "output".
void take_entry(Json& entry, TensorOfModel& t, const char* what, bool batched) {
  const auto given = type_of_config(entry.value("data_type", ""));
  if (given != TRITONSERVER_TYPE_INVALID && t.own.dtype != DType::none && element_type(given) != t.own.dtype)
    bad_type("{} '{}': config.pbtxt says {}, but the pipeline has {}", what, t.name, config_name(given),
             config_name(server_type(t.own.dtype)));
  if (given != TRITONSERVER_TYPE_INVALID) t.type = given;
  if (t.type == TRITONSERVER_TYPE_INVALID)
    bad_type(
        "{} '{}': its type is not known before data flow; declare it in config.pbtxt, or give every external_source "
        "dtype and ndim",
        what, t.name);
  entry["data_type"] = config_name(t.type);
  auto& dims = entry["dims"];
  const bool is_file = t.type == TRITONSERVER_TYPE_BYTES;
  if (dims.empty() && !is_file && !t.shape)
    bad_type(
        "{} '{}': its number of dimensions is not known before data flow; declare dims in config.pbtxt, or give every "
        "external_source dtype and ndim",
        what, t.name);
  if (dims.empty()) dims = dims_of(t, batched);
  if (!is_file) check_dims(dims, t, what, batched);
}

// Entries with the names of the graph's inputs, in any order.
void take_inputs(Json& entries, std::vector<TensorOfModel>& inputs, bool batched) {
  std::vector<std::string> names;
  for (const auto& t : inputs) names.push_back(t.name);
  for (const auto& e : entries)
    if (const std::string name = e.value("name", ""); std::find(names.begin(), names.end(), name) == names.end())
      bad_argument("input '{}' of config.pbtxt is no external_source of the pipeline{}", name,
                   did_you_mean(name, names));
  for (auto& t : inputs) {
    auto at =
        std::find_if(entries.begin(), entries.end(), [&](const Json& e) { return e.value("name", "") == t.name; });
    if (at == entries.end()) entries.push_back({{"name", t.name}}), at = entries.end() - 1;
    take_entry(*at, t, "input", batched);
    // Samples of one length each: requests of unlike length share a batch.
    if (t.type != TRITONSERVER_TYPE_BYTES && !at->value("allow_ragged_batch", false))
      (*at)["allow_ragged_batch"] = true;
  }
}

// Entries in the order of the pipeline's outputs, with any names.
void take_outputs(Json& entries, std::vector<TensorOfModel>& outputs, bool batched) {
  if (!entries.empty() && entries.size() != outputs.size())
    bad_argument("config.pbtxt has {} outputs, but the pipeline returns {}", entries.size(), outputs.size());
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (entries.size() <= k) entries.push_back({{"name", outputs[k].name}});
    if (const std::string name = entries[k].value("name", ""); !name.empty()) outputs[k].name = name;
    take_entry(entries[k], outputs[k], "output", batched);
  }
}

}  // namespace

bool Signature::takes_videos() const {
  return std::any_of(inputs.begin(), inputs.end(), [](const auto& t) { return t.video; });
}

Signature signature_of(const Graph& graph, const std::vector<std::optional<Shape>>& shapes) {
  Signature s;
  for (const Node& n : graph.nodes()) {
    const Fed fed = info_of(n).fed;
    for (int k = 0; fed != Fed::no && k < n.outputs; ++k) {
      TensorOfModel t;
      t.name = n.outputs == 1 ? n.name : n.name + "_" + std::to_string(k);
      t.own = fed == Fed::video ? ValueType{DType::uint8, 1, {}} : n.types[static_cast<size_t>(k)];
      t.type = is_bytes(t.own) ? TRITONSERVER_TYPE_BYTES : server_type(t.own.dtype);
      if (t.own.ndim >= 0) t.shape = Shape::filled(t.own.ndim, -1);
      t.node = n.id, t.video = fed == Fed::video, t.on_gpu = n.on_gpu;
      s.inputs.push_back(t);
    }
  }
  if (s.inputs.empty()) bad_argument("the pipeline has no external_source, so a request has nothing to give");
  for (size_t k = 0; k < graph.outputs().size(); ++k) {
    const ValueRef v = graph.outputs()[k];
    TensorOfModel t;
    t.name = "OUTPUT" + std::to_string(k);
    t.own = graph.type({v.node, v.output});
    t.type = server_type(t.own.dtype);
    t.shape = shapes[k];
    t.on_gpu = graph.on_gpu(v);
    s.outputs.push_back(t);
  }
  return s;
}

void complete(Json& config, Signature& signature, int batch_size) {
  const bool videos = signature.takes_videos();
  if (!videos && config.value("max_batch_size", 0) <= 0) config["max_batch_size"] = batch_size;
  if (videos && config.value("max_batch_size", 0) > 1)
    bad_argument("max_batch_size is {}, but a request of {} is one video: write 0", config["max_batch_size"].dump(),
                 signature.inputs[0].name);
  const bool batched = config.value("max_batch_size", 0) > 0;
  take_inputs(config["input"], signature.inputs, batched);
  take_outputs(config["output"], signature.outputs, batched);
  if (videos && (!config.contains("model_transaction_policy") || config["model_transaction_policy"].is_null()))
    config["model_transaction_policy"] = {{"decoupled", true}};
  if (!videos && !config.contains("dynamic_batching") && !config.contains("sequence_batching") &&
      !config.contains("ensemble_scheduling"))
    config["dynamic_batching"] = Json::object();
}

}  // namespace penstock::triton
