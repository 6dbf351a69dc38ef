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

bool StageGrowth::may_take(const Planning& p, const Node& n, const StageTraits& t, bool pushed, size_t along) const {
  constexpr int kMostNodes = 64;
  const ValueRef joint = n.inputs.at(along);
  const Node& before = p.graph.node(joint.node);
  if (!p.options.fuse || !p.read_once(joint) || before.region != n.region || before.domain != n.domain) return false;
  if (joint.place != Place::made || before.device != n.device) return false;
  if (closed_ || nodes_ >= kMostNodes || t.decodes) return false;
  if (n.inputs.size() > 1 && (window_ || filter_ || warp_ || decodes_ || reads_frames_)) return false;
  // Coefficients, and numbers that depend on the position in the picture, stay with the leading picture.
  if (along > 0 && (channels_matter_ || positional_)) return false;
  // The kernels of warps and of convolutions that read bytes in memory are faster than those that read frames.
  if (reads_frames_ && p.runs_on_gpu(n.id) && (t.warps || t.convolves)) return false;
  if (size_reader_ <= n.id) return false;  // the stage must be done before n
  if (t.maps) {
    if (inputs_ > 1 || positional_ || (decodes_ && !pushed)) return false;
    if (t.warps) return !(filter_ || warp_ || window_ || pixel_ || retyped_);
    // A kernel of a GPU counts its positions from the first output of a warp.
    if (warp_ && (p.runs_on_gpu(n.id) || t.filters || t.fills)) return false;
    if (t.filters) return !(filter_ || pixel_ || retyped_);
    if (t.maps_channels && channels_matter_) return false;
  }
  return true;
}

bool StageGrowth::may_join(const StageGrowth& other, size_t inputs) const {
  constexpr int kMostNodes = 64, kMostJoined = 4;  // a value that waits for its other side keeps a register
  return inputs <= static_cast<size_t>(kMaxStageInputs) && nodes_ + other.nodes_ < kMostNodes &&
         joined_ + other.joined_ < kMostJoined && !other.channels_matter_ && !other.positional_;
}

void StageGrowth::join(const StageGrowth& other) {
  nodes_ += other.nodes_, joined_ += other.joined_ + 1;
  inputs_ += other.inputs_;
  pixel_ |= other.pixel_, retyped_ |= other.retyped_;
  size_reader_ = std::min(size_reader_, other.size_reader_);
}

void StageGrowth::take(const Planning& p, const Node& n, const StageTraits& t) {
  const auto type = [&](ValueRef v) { return p.graph.type(v).dtype; };
  ++nodes_;
  if (const auto r = p.readers.find({n.id, n.outputs - 1}); gives_size(n) && r != p.readers.end())
    size_reader_ = std::min(size_reader_, *std::min_element(r->second.begin(), r->second.end()));
  inputs_ += n.inputs.size() - 1;
  decodes_ |= t.decodes && !p.runs_on_gpu(n.id);           // on a GPU the stage begins after the decoder
  const bool frames = info_of(n).family == Family::whole;  // whose pixels the stage reads
  reads_frames_ |= frames;
  filter_ |= t.filters;
  warp_ |= t.warps;
  window_ |= t.maps && !t.filters && !t.warps;
  pixel_ |= t.pixels;
  closed_ |= t.fills;
  channels_matter_ |= t.mixes_channels || t.per_channel;
  positional_ |= t.positional;
  retyped_ |= !t.pixels && !t.decodes && !frames && !t.filters && type({n.id, 0}) != type(n.inputs.at(0));
}

}  // namespace penstock
