// SPDX-License-Identifier: Apache-2.0
#include "exec/steps/cached_decoding.h"

#include <algorithm>
#include <cstring>

#include "base/notice.h"
#include "exec/decoded_region.h"

namespace penstock {
namespace {

// The program without its first node, the decoder, whose picture becomes the first input.
StageProgram without_decoder(const StageProgram& whole) {
  const int decoded = static_cast<int>(whole.inputs.size());
  const auto moved = [&](int value) { return value < decoded ? value : value == decoded ? 0 : value - 1; };
  StageProgram rest = whole;
  rest.inputs[0] = whole.nodes[0].type;
  rest.nodes.erase(rest.nodes.begin());
  for (StageNode& node : rest.nodes)
    std::transform(node.operands.begin(), node.operands.end(), node.operands.begin(), moved);
  std::transform(rest.outputs.begin(), rest.outputs.end(), rest.outputs.begin(), moved);
  std::transform(rest.sizes.begin(), rest.sizes.end(), rest.sizes.begin(), moved);
  return rest;
}

}  // namespace

std::unique_ptr<CachedDecoding> CachedDecoding::of(const StepContext& context, size_t index) {
  const Step& step = context.plan.steps[index];
  if (step.inputs.empty() || !names_pictures(context, step.inputs[0])) return nullptr;
  auto cache = PictureCache::of(context.plan.graph, context.plan.graph.node(step.nodes.front()));
  return cache ? std::make_unique<CachedDecoding>(context, index, std::move(cache)) : nullptr;
}

CachedDecoding::Picture CachedDecoding::find(const std::string& name) {
  Picture found = cache_->find(name);
  context_.statistics.cached(index_, cache_->counts());
  return found;
}

CachedDecoding::Picture CachedDecoding::decode(const std::string& name, Bytes file, const DecodeParams& params) {
  ParsedHeader header;
  const ImageInfo info = probe_image(file, params, &header);
  const Shape shape{info.height, info.width, output_channels(info, params.type)};
  if (!cache_->wants(name, checked_bytes(shape.volume(), size_of(params.dtype)))) return nullptr;
  try {
    const Region all{0, 0, shape[0], shape[1]};
    std::string lacking;
    auto pixels = decode_region(file, info, header, params, all, default_memory(), {}, &lacking);
    if (!lacking.empty()) notice_of_sample(name + ": " + lacking);
    return cache_->keep(name, {shape, std::move(pixels), nullptr});
  } catch (...) {
    cache_->forget(name);
    throw;
  }
}

std::shared_ptr<CpuStage> CachedDecoding::rest_of(const std::shared_ptr<CpuStage>& stage) {
  std::lock_guard lock(mutex_);
  if (whole_ != stage) rest_ = std::make_shared<CpuStage>(without_decoder(stage->program())), whole_ = stage;
  return rest_;
}

void CachedDecoding::run(const std::shared_ptr<CpuStage>& stage, const CachedPicture& picture, const SampleContext& s,
                         std::span<const StageInput> in, const AllocateOutput& allocate, CpuScratch& scratch) {
  const StageProgram& program = stage->program();
  const ValueType& type = program.nodes[0].type;
  const View pixels{picture.pixels.get(), type.dtype, "HWC", picture.shape, dense_strides(picture.shape)};
  if (program.nodes.size() == 1 && program.sizes.empty()) {
    const View out = allocate(0, type.dtype, picture.shape, "HWC");
    std::memcpy(out.data, pixels.data, checked_bytes(picture.shape.volume(), size_of(type.dtype)));
    return;
  }
  std::vector<StageInput> inputs(in.begin(), in.end());
  inputs[0] = {pixels, {}, nullptr};
  rest_of(stage)->run(s, inputs, allocate, scratch);
}

}  // namespace penstock
