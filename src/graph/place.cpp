// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "device/gpu_backend.h"
#include "graph/stage_growth.h"

namespace penstock {
namespace {

// A GPU gets lists of numbers with each sample; longer lists become values once, on the CPU.
bool has_long_list(const Node& n) {
  constexpr size_t kLong = 256;
  return std::any_of(n.constants.begin(), n.constants.end(), [](const auto& constant) {
    return std::visit(
        [](const auto& v) {
          if constexpr (requires { v.emplace_back(); }) return v.size() > kLong;
          else return false;
        },
        constant.second);
  });
}

// Node by node, in their order: where each runs, and where it reads its values.
class Placing {
 public:
  explicit Placing(Planning& p)
      : p_(p), g_(p.graph), gpu_(g_.nodes().size(), 0), cut_(g_.nodes().size(), 0), read_(g_.nodes().size(), 0) {
    for (const Node& n : g_.nodes()) {
      for (const ValueRef& v : n.inputs) read_[v.node] = 1;
      p.devices.push_back(n.device);
      for_each_read(n, [&](ValueRef v) {
        if (v.place != Place::made) p.asked.insert(v);
      });
    }
    for (const ValueRef& v : g_.outputs()) read_[v.node] = 1;
  }

  // It decides on the host; its values stay where they are made.
  void place_control(Node& n) {
    gpu_[n.id] = p_.options.gpu && n.on_gpu && n.outputs_on_gpu.empty();
    const size_t deciding = deciding_inputs(n);
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      const size_t value = k - deciding;
      const bool there = k >= deciding && (changes_samples(n.control) ? p_.options.gpu && n.outputs_on_gpu[value] != 0
                                                                      : gpu_[n.arguments[value]] != 0);
      n.inputs[k] = placed(n.inputs[k], there);
    }
    for (size_t k = 0; k < n.results.size(); ++k) {
      const bool there = p_.options.gpu && n.outputs_on_gpu[k % n.outputs_on_gpu.size()];
      if (n.results[k].node >= 0) n.results[k] = placed(n.results[k], there);
    }
    if (n.test.node >= 0) n.test = placed(n.test, false);
  }

  void place_operator(Node& n) {
    gpu_[n.id] = p_.needed[n.id] && runs_on_gpu(n);
    const bool reads_pixels = !info_of(n).reads_shapes;
    const bool there = gpu_[n.id] && !stage_decodes(g_, n) && !info_of(n).decodes_to_device;
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      ValueRef& v = n.inputs[k];
      const bool stays = !reads_pixels || (there && info_of(n).reads_on_host(k));
      v = placed(v, stays ? made_on_gpu(v) : there);
    }
    const auto& stay = get_op(n.op).gpu_arguments;
    for (auto& [name, v] : n.per_sample)
      v = placed(v, gpu_[n.id] && made_on_gpu(v) && std::find(stay.begin(), stay.end(), name) != stay.end());
    n.device = gpu_[n.id] ? "gpu" : "";
  }

  ValueRef placed(ValueRef v, bool wanted_on_gpu) const {
    return {v.node, v.output, made_on_gpu(v) == wanted_on_gpu ? Place::made : wanted_on_gpu ? Place::gpu : Place::cpu};
  }

 private:
  bool runs_on_gpu(const Node& n) {
    if (!p_.options.gpu || !n.on_gpu) return false;
    const OpInfo& info = info_of(n);
    if (info.decodes_to_device) return p_.options.gpu_decoders.count(n.id) > 0;
    switch (info.family) {
      // a program's data is moved at once; data that is read, where it is needed
      case Family::source: return !info.lazy_files && !info.loads_samples;
      case Family::whole: {  // numbers used only by arguments are made where most of those are read
        const bool computes = !n.inputs.empty() && !info.reads_shapes;
        return (computes || (read_[n.id] && !has_long_list(n))) && gpu_backend().runs_whole(n.op);
      }
      case Family::stage: break;
    }
    return stage_runs_on_gpu(n);
  }
  bool stage_runs_on_gpu(const Node& n) {
    const StageTraits t = stage_traits(g_, n);
    if (t.decodes) {
      const bool decodes = p_.options.gpu_decoders.count(n.id) > 0;
      cut_[n.id] = !decodes;
      return decodes;
    }
    // A window joins a decoder on the CPU: then only its content is decoded and copied.
    const ValueRef in = n.inputs.at(0);
    cut_[n.id] = p_.options.fuse && p_.options.push_down && in.place == Place::made && cut_[in.node] &&
                 p_.read_once(in) && n.inputs.size() == 1 && t.maps && !t.filters && !t.warps && !t.fills && !t.pixels;
    return !cut_[n.id];
  }
  bool made_on_gpu(ValueRef v) const {
    const Node& n = g_.node(v.node);
    if (!n.outputs_on_gpu.empty()) return p_.options.gpu && n.outputs_on_gpu.at(v.output) != 0;
    if (gpu_[v.node] && info_of(n).decodes_to_device) return v.output == 0;
    return gpu_[v.node] && !(gives_size(n) && v.output == n.outputs - 1);  // the host knows the sizes
  }

  Planning& p_;
  const Graph& g_;
  std::vector<char> gpu_;   // the node runs on the GPU
  std::vector<char> cut_;   // a decoder whose image is wanted there but made on the CPU, or a window of it
  std::vector<char> read_;  // as a value: by a node's input or as an output
};

}  // namespace

void place(Planning& p) {
  Graph& g = p.plan.graph;
  Placing placing(p);
  for (Node& n : g.nodes_)
    if (n.control != Control::none) placing.place_control(n);
    else placing.place_operator(n);
  p.outputs.clear();
  for (ValueRef& v : g.outputs_) {
    v = placing.placed(v, p.options.gpu && g.on_gpu(v));
    p.outputs.insert(v);
  }
  find_readers(p);
}

}  // namespace penstock
