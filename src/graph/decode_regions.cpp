// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/arrangement.h"
#include "graph/stage_growth.h"

namespace penstock {

void find_decode_regions(Planning& p) {
  if (!p.options.push_down) return;
  std::vector<Step>& steps = p.plan.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind != Step::Kind::decode) continue;
    const ValueRef pixels = steps[i].output;
    const auto known = p.options.gpu_decoders.find(pixels.node);
    if (known == p.options.gpu_decoders.end() || !known->second || p.outputs.count(pixels)) continue;
    const auto reads = [&](const Step& s) {
      const auto wants = [&](const auto& argument) { return argument.second == pixels; };
      return std::count(s.inputs.begin(), s.inputs.end(), pixels) +
             std::count_if(s.nodes.begin(), s.nodes.end(), [&](int id) {
               const auto& arguments = p.graph.node(id).per_sample;
               return std::any_of(arguments.begin(), arguments.end(), wants);
             });
    };
    int64_t readers = 0;
    for (const Step& s : steps) readers += reads(s);
    const auto stage = std::find_if(steps.begin(), steps.end(), reads);
    for (size_t k = 0; k < steps.size(); ++k)
      if (steps[k].kind == Step::Kind::control) for_each_read(p.plan, k, [&](ValueRef v) { readers += v == pixels; });
    if (readers != 1 || stage == steps.end() ||  // what ends a body, or begins a loop, may be the only reader
        p.plan.region_of(*stage) != p.plan.region_of(steps[i]) || stage->kind != Step::Kind::stage ||
        stage->inputs[0] != pixels)
      continue;
    if (std::none_of(stage->nodes.begin(), stage->nodes.end(), [&](int id) {
          const Node& n = p.graph.node(id);
          return info_of(n).family == Family::stage && stage_traits(p.graph, n).maps;
        }))
      continue;
    steps[i].regions = true;
    // The steps that make the arguments of the maps come first; nothing in between reads the pixels.
    std::rotate(steps.begin() + static_cast<ptrdiff_t>(i), steps.begin() + static_cast<ptrdiff_t>(i) + 1, stage);
  }
}

}  // namespace penstock
