// SPDX-License-Identifier: Apache-2.0
#include "exec/plan_options.h"

#include <algorithm>
#include <utility>

#include "base/settings.h"
#include "device/gpu_backend.h"
#include "device/video_frames.h"
#include "exec/decode_engine.h"
#include "exec/gpu_work.h"
#include "graph/stage_growth.h"

namespace penstock {

PlanOptions plan_options(const Graph& g, int device) {
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
    refuse(
        "runs on a GPU, but the pipeline was made for the CPU only: give the pipeline a device_id, or omit the "
        "operator's device");
  const std::string why_not = gpu_backend().why_not();
  const std::string_view required = Setting("PENSTOCK_REQUIRE_GPU").text();
  if (!why_not.empty() && !required.empty() && required != "0")
    refuse(fmt::format("is requested on a GPU and PENSTOCK_REQUIRE_GPU is set, but no GPU can be used: {}", why_not));
  p.gpu = why_not.empty();
  if (p.gpu) GpuWork::check(std::max(0, device));
  return p;
}

PlanOptions plan_options(const Graph& g, const PipelineOptions& o, Engines& engines) {
  PlanOptions p = plan_options(g, o.device);
  if (o.stepping && Setting("PENSTOCK_EXEC").text() != "stepping-fused") p.fuse = p.push_down = false;
  p.reads_apart = o.late == Late::swap;
  if (!p.gpu) return p;
  for (const Node& n : g.nodes()) {
    if (n.on_gpu && info_of(n).decodes_to_device) {
      const std::string why = gpu_video().why_no_video(std::max(0, o.device));
      if (why.empty()) p.gpu_decoders[n.id] = false;
      else warn_declined(why);
    }
    if (!n.on_gpu || !stage_decodes(g, n)) continue;
    try {
      const auto engine = engine_of(info_of(n), g.arguments(n, [](ValueRef) -> const Batch* { return nullptr; }));
      auto decoder = engine ? make_batch_decoder(std::max(0, o.device), *engine) : nullptr;
      if (!decoder) continue;
      p.gpu_decoders[n.id] = decoder->takes_regions();
      engines[n.id] = std::move(decoder);
    } catch (Error& e) {
      e.op = n.op, e.user_line = n.user_line;
      throw;
    }
  }
  return p;
}

int depth_of(const PipelineOptions& o, const Engines& engines, bool readers) {
  constexpr int kMostDepth = 16;
  int depth = std::max(1, o.prefetch);
  if (o.prefetch == 0 || !readers) return depth;
  for (const auto& [node, engine] : engines) {
    // A group on each lane, and one that is read meanwhile.
    const int images = (std::max(1, engine->lanes()) + 1) * std::max(1, engine->best_group());
    depth = std::max(depth, std::min(kMostDepth, (images + o.batch_size - 1) / o.batch_size));
  }
  return depth;
}

}  // namespace penstock
