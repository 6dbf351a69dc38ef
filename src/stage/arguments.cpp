// SPDX-License-Identifier: Apache-2.0
#include "stage/arguments.h"

#include <algorithm>

#include "batch/batch.h"

namespace penstock {

bool has_constant_arguments(const StageCode& code) {
  if (code.has_frames || code.program.inputs.empty()) return false;
  for (const auto& node : code.program.nodes)
    if (node.op->per_sample() || node.op->info->random) return false;
  return true;
}

bool ignores_arguments(const StageCode& code) {
  if (code.has_frames || code.maps || code.program.inputs.empty()) return false;
  return std::none_of(code.traits.begin(), code.traits.end(), [](const StageTraits& t) { return t.own_shapes; });
}

int convolving_node(const StageCode& code) {
  if (code.has_frames || code.program.inputs.size() != 1) return -1;
  int node = -1;
  for (size_t i = 0; i < code.traits.size(); ++i) {
    const StageTraits& t = code.traits[i];
    if (t.own_shapes || (t.maps && (node >= 0 || !t.convolves))) return -1;
    if (t.maps) node = static_cast<int>(i);
  }
  return node;
}

int resampling_node(const StageCode& code, std::vector<const Batch*>& choices) {
  choices.clear();
  if (code.has_frames || code.program.inputs.size() != 1) return -1;
  const Layout& layout = code.program.inputs[0].layout;
  if (layout != Layout("HWC") && layout != Layout("HW")) return -1;
  int node = -1;
  for (size_t i = 0; i < code.traits.size(); ++i) {
    const StageTraits& t = code.traits[i];
    const BoundOp& op = *code.program.nodes[i].op;
    if (t.own_shapes || t.decodes || (t.maps && node < 0 && !t.filters)) return -1;
    if (!t.maps) continue;
    if (node < 0) {
      node = static_cast<int>(i);
      continue;
    }
    if (t.filters || t.warps || op.info->random) return -1;
    for (const auto& [argument, batch] : op.sample_arguments) {
      if (argument->type != ArgType::integer && argument->type != ArgType::boolean) return -1;
      if (batch->device().kind != DeviceKind::cpu) return -1;
      choices.push_back(batch);
    }
  }
  return node;
}

static bool is_random(const StageCode& code) {
  const auto& nodes = code.program.nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const StageNode& n) { return n.op->info->random; });
}

BatchArguments::BatchArguments(const StageCode& code)
    : constant(has_constant_arguments(code)),
      knows_shapes(constant || ignores_arguments(code)),
      random(is_random(code)),
      convolves(knows_shapes ? -1 : convolving_node(code)),
      resamples(knows_shapes || convolves >= 0 ? -1 : resampling_node(code, choices)) {}

}  // namespace penstock
