// SPDX-License-Identifier: Apache-2.0
#include "function/gpu_plan.h"

#include <algorithm>

#include "base/settings.h"
#include "device/gpu_backend.h"
#include "exec/gpu_work.h"
#include "exec/pipeline.h"

namespace penstock {

PlanOptions gpu_plan_options(const Graph& g, int device) {
  PlanOptions p = plan_options_from_environment();
  const auto asks = [&](ValueRef v) { return g.on_gpu(v); };
  const auto wants = [&](const Node& n) { return n.on_gpu || std::any_of(n.inputs.begin(), n.inputs.end(), asks); };
  const auto node = std::find_if(g.nodes().begin(), g.nodes().end(), wants);
  const auto output = std::find_if(g.outputs().begin(), g.outputs().end(), asks);
  if (node == g.nodes().end() && output == g.outputs().end()) return p;
  const Node& first = node == g.nodes().end() ? g.node(output->node) : *node;
  const auto refuse = [&](const std::string& why) {
    Error e(ErrorKind::argument, why);
    e.op = first.op, e.user_line = first.user_line;
    throw e;
  };
  if (device == kNoGpu)
    refuse("runs on a GPU, but the pipeline was made for the CPU only: give it a device_id, or omit the device");
  const std::string why_not = gpu_backend().why_not();
  const std::string_view required = Setting("PENSTOCK_REQUIRE_GPU").text();
  if (!why_not.empty() && !required.empty() && required != "0")
    refuse(fmt::format("is requested on a GPU and PENSTOCK_REQUIRE_GPU is set, but no GPU can be used: {}", why_not));
  p.gpu = why_not.empty();
  if (p.gpu) GpuWork::check(std::max(0, device));
  return p;
}

}  // namespace penstock
