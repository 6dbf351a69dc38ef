// SPDX-License-Identifier: Apache-2.0
#include "triton/model.h"

#include "base/json_text.h"
#include "base/thread_pool.h"
#include "graph/batch_operators.h"
#include "graph/known_shapes.h"
#include "triton/model_text.h"
#include "triton/server_errors.h"

namespace penstock::triton {
namespace {

using Json = nlohmann::json;

Json json_of(TRITONSERVER_Message* message, bool take) {
  const char* text = nullptr;
  size_t bytes = 0;
  TRITONSERVER_Error* error = TRITONSERVER_MessageSerializeToJson(message, &text, &bytes);
  Json j = error ? Json() : parse_json(std::string(text, bytes));
  if (take) ignore(TRITONSERVER_MessageDelete(message));
  check(error);
  return j;
}

void set_config(TRITONBACKEND_Model* model, const Json& config) {
  const std::string text = config.dump();
  TRITONSERVER_Message* message = nullptr;
  check(TRITONSERVER_MessageNewFromSerializedJson(&message, text.data(), text.size()));
  TRITONSERVER_Error* error = TRITONBACKEND_ModelSetConfig(model, 1, message);
  ignore(TRITONSERVER_MessageDelete(message));
  check(error);
}

// The interpreter for Python files: --backend-config=penstock,python=PATH, else what the installation noted.
std::string python_of(TRITONBACKEND_Model* model) {
  TRITONBACKEND_Backend* backend = nullptr;
  check(TRITONBACKEND_ModelBackend(model, &backend));
  TRITONSERVER_Message* message = nullptr;
  check(TRITONBACKEND_BackendConfig(backend, &message));
  const Json config = json_of(message, false);
  if (config.is_object() && config.contains("cmdline") && config["cmdline"].contains("python"))
    return config["cmdline"]["python"].get<std::string>();
  TRITONBACKEND_ArtifactType kind{};
  const char* folder = nullptr;
  check(TRITONBACKEND_BackendArtifacts(backend, &kind, &folder));
  return noted_python(folder);
}

std::vector<std::optional<Shape>> output_shapes(const Graph& g) {
  const KnownShapes known = known_shapes(g, {});
  std::vector<std::optional<Shape>> shapes;
  for (const ValueRef& v : g.outputs()) {
    const auto found = known.find({v.node, v.output});
    const int ndim = g.type({v.node, v.output}).ndim;
    if (found != known.end()) shapes.emplace_back(found->second);
    else if (ndim >= 0) shapes.emplace_back(Shape::filled(ndim, -1));
    else shapes.emplace_back();
  }
  return shapes;
}

}  // namespace

Model::Model(TRITONBACKEND_Model* model) {
  TRITONSERVER_Message* message = nullptr;
  check(TRITONBACKEND_ModelConfig(model, 1, &message));
  Json config = json_of(message, true);
  read(model, config);
  try {
    const auto loaded = pipeline(-1);  // with one thread
    if (is_function_) signature_ = signature_of(loaded->graph(), output_shapes(loaded->graph()));
    else signature_ = signature_of(loaded->graph(), loaded->output_shapes());
    for (const Node& n : loaded->graph().nodes())
      mixes_samples_ |= penstock::mixes_samples(n.op) || takes_from_batch(n.op);
    bool wanted = false;
    check(TRITONBACKEND_ModelAutoCompleteConfig(model, &wanted));
    complete(config, signature_, wanted ? loaded->options().batch_size : 0);
    if (wanted) set_config(model, config);
    take_settings(config);
    if (threads_ == 0) threads_ = parse_json(text_).value("threads", 0);
    if (threads_ <= 0) threads_ = usable_cores();
  } catch (Error& e) {
    if (e.source.empty()) e.source = path_;
    throw;
  }
}

void Model::read(TRITONBACKEND_Model* model, const Json& config) {
  TRITONBACKEND_ArtifactType kind{};
  const char* place = nullptr;
  uint64_t version = 0;
  check(TRITONBACKEND_ModelRepository(model, &kind, &place));
  check(TRITONBACKEND_ModelVersion(model, &version));
  if (kind != TRITONBACKEND_ARTIFACT_FILESYSTEM) bad_argument("models are folders of a file system");
  const ModelFile file =
      find_model_file(std::string(place) + "/" + std::to_string(version), config.value("default_model_filename", ""));
  path_ = file.path;
  text_ = model_text(file, file.is_python ? python_of(model) : "");
  try {
    functions_[-1] = Function::from_json(text_);
    is_function_ = true;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::argument) throw;  // pipeline() says what is wrong with a text that is none
  }
}

void Model::take_settings(const Json& config) {
  most_samples_ = config.value("max_batch_size", 0);
  if (config.contains("model_transaction_policy"))
    decoupled_ = config["model_transaction_policy"].value("decoupled", false);
  if (!config.contains("parameters") || !config["parameters"].is_object()) return;
  for (const auto& [name, value] : config["parameters"].items()) {
    if (name != "num_threads") continue;  // others are for other readers of the configuration
    const std::string text = value.value("string_value", "");
    const Json number = parse_json(text);
    if (!number.is_number_integer() || number.get<int64_t>() < 1 || number.get<int64_t>() > 4096)
      bad_argument("the parameter num_threads must be a whole number from 1 to 4096, got '{}'", text);
    threads_ = number.get<int>();
  }
}

std::shared_ptr<const Function> Model::function(int device) {
  if (!is_function_) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& f = functions_[device];
  if (!f) f = Function::from_json(text_, {.device = device});
  return f;
}

int Model::gpu_of(int device) const { return std::max(0, device >= 0 ? device : parse_json(text_).value("device", 0)); }

std::unique_ptr<Pipeline> Model::pipeline(int device) const {
  return Pipeline::from_json(text_, [&](PipelineOptions& o) {
    if (device >= 0) o.device = device;
    if (most_samples_ > 0) o.batch_size = most_samples_;
    o.threads = std::max(1, threads_);
    o.prefetch = 1;
    o.on_error = OnError::raise;
  });
}

}  // namespace penstock::triton
