// SPDX-License-Identifier: Apache-2.0
// The map of points of an operator whose map is not a matrix. It is registered as one of point_map_adaptor.h is, reads
// the same of the image and draws the same numbers, but has one output: the displacements (2, height, width) along x
// and y, float32. Output (x, y) of the operator shows its input at (x + dx, y + dy).
#pragma once
#include "ops/shared/sampling.h"
#include "operator/operator.h"

namespace penstock {

// `Op` has displace(s, height, width, dx, dy), which fills both planes.
template <class Op> class FieldAdaptor final : public Adaptor<Op> {
 public:
  using Adaptor<Op>::op;

  void infer(std::span<const ValueType> in, std::span<ValueType> out) override {
    check_image(in[0]);
    out[0] = {DType::float32, 3, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    const int h = check_image(types[0]).find('H');
    if (h < 0) out[0] = {2, -1, -1};
    else out[0] = {2, in[0][h], in[0][h + 1]};
  }
  StageTraits traits() const override { return {.own_shapes = true}; }
  void run(const SampleContext& s, std::span<const View>, std::span<const View> out) const override {
    const int64_t height = out[0].shape[1], width = out[0].shape[2];
    float* const dx = out[0].template as<float>();
    if (height * width > 0)
      op.displace(s, static_cast<int32_t>(height), static_cast<int32_t>(width), dx, dx + height * width);
  }
};

template <class Op> bool add_displacements() {
  const OpInfo of = Op::schema().take();
  OpInfo info = of;
  info.name = point_map_name(of.name), info.follows = of.name;
  info.family = Family::whole;
  info.outputs = 1, info.max_inputs = info.min_inputs = 1;
  info.gpu_arguments.clear();
  info.reads_shapes = info.hidden = true;
  info.make = []() -> std::unique_ptr<BoundOp> { return std::make_unique<FieldAdaptor<Op>>(); };
  register_op(std::move(info));
  return true;
}
#define PENSTOCK_DISPLACEMENTS(Op) \
  [[maybe_unused]] static const bool displaces_##Op = ::penstock::add_displacements<Op>()

}  // namespace penstock
