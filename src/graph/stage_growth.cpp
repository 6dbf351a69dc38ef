// SPDX-License-Identifier: Apache-2.0
#include "graph/stage_growth.h"

#include <algorithm>

namespace penstock {

std::shared_ptr<BoundOp> bound_early(const Graph& g, const Node& n) {
  static const Batch later(DType::float32, 0, {}, 0);
  const auto args = g.arguments(n, [](ValueRef) { return &later; });
  return bind_op(info_of(n), args);
}

StageTraits stage_traits(const Graph& g, const Node& n) { return bound_early(g, n)->traits(); }

bool stage_decodes(const Graph& g, const Node& n) {
  return info_of(n).family == Family::stage && stage_traits(g, n).decodes;
}

bool StageGrowth::may_take(const Planning& p, const Node& n, const StageTraits& t, bool pushed) const {
  constexpr int kMostNodes = 64;
  constexpr size_t kMostInputs = 4;
  const ValueRef joint = n.inputs.at(0);
  const Node& before = p.graph.node(joint.node);
  if (!p.options.fuse || !p.read_once(joint) || before.region != n.region || before.domain != n.domain) return false;
  if (joint.place != Place::made || before.device != n.device) return false;
  if (closed_ || nodes_ >= kMostNodes || t.decodes) return false;
  if (n.inputs.size() > 1 && (window_ || filter_ || warp_ || decodes_)) return false;
  if (inputs_ + n.inputs.size() - 1 > kMostInputs) return false;
  if (size_reader_ <= n.id) return false;  // it needs the stage to be done before n
  if (t.maps) {
    if (inputs_ > 1 || positional_ || (decodes_ && !pushed)) return false;
    if (t.warps) return !(filter_ || warp_ || window_ || pixel_ || retyped_);
    if (warp_) return false;
    if (t.filters) return !(filter_ || pixel_ || retyped_);
    if (t.maps_channels && channels_matter_) return false;
  }
  return true;
}

void StageGrowth::take(const Planning& p, const Node& n, const StageTraits& t) {
  const auto type = [&](ValueRef v) { return p.graph.type(v).dtype; };
  ++nodes_;
  if (const auto r = p.readers.find({n.id, n.outputs - 1}); gives_size(n) && r != p.readers.end())
    size_reader_ = std::min(size_reader_, *std::min_element(r->second.begin(), r->second.end()));
  inputs_ += n.inputs.size() - 1;
  decodes_ |= t.decodes && !p.runs_on_gpu(n.id);  // there the stage begins behind the decoder
  filter_ |= t.filters;
  warp_ |= t.warps;
  window_ |= t.maps && !t.filters && !t.warps;
  pixel_ |= t.pixels;
  closed_ |= t.fills;
  channels_matter_ |= t.mixes_channels || t.per_channel;
  positional_ |= t.positional;
  retyped_ |= !t.pixels && !t.decodes && !t.filters && type({n.id, 0}) != type(n.inputs.at(0));
}

}  // namespace penstock
