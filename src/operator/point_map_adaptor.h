// SPDX-License-Identifier: Apache-2.0
// The map of an operator that moves the positions of an image, as an operator of its own: it takes the image, of which
// it reads only the shape, or its extents [D,] H, W as a stage gives them (gives_size in graph/graph.h); and the same
// arguments. It gives the matrix that moves points (point_map.h), and the extents of the image before and after, x
// first. It is not an operator of `fn`: penstock.Sample calls it for the parts of a sample that are not pixels.
#pragma once
#include "operator/adaptor.h"
#include "operator/image_layout.h"
#include "operator/point_map.h"

namespace penstock {

template <class Op> constexpr bool moves_points() {
  if constexpr (std::derived_from<Op, WholeOperator>) return overrides(&Op::point_map, &WholeOperator::point_map);
  else
    return std::derived_from<Op, MapOperator> && !std::derived_from<Op, ConvolutionOperator> &&
           !requires { typename Op::DecodeFamily; };
}

template <class Op> class PointMapAdaptor final : public Adaptor<Op> {
 public:
  using Adaptor<Op>::op;

  Layout input_layout(const ValueType& in) const override { return in.ndim == 1 ? in.layout : op.input_layout(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) override {
    extents_ = in[0].ndim == 1;
    const ValueType image = extents_ ? ValueType{DType::none, -1, {}} : in[0];
    op.check(std::span(&image, 1));
    if (!extents_) layout_ = op.input_layout(image);
    if (!extents_ && layout_.empty()) layout_ = image_layout(image);  // it moves an image
    out[0] = {DType::float64, 2, {}};
    out[1] = out[2] = {DType::int64, 1, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    int dims[3];
    const int64_t n = !extents_ ? spatial_dims(layout_, dims) : in[0][0];
    out[0] = {n < 0 ? -1 : n + 1, n < 0 ? -1 : n + 1};
    out[1] = out[2] = {n};
  }
  StageTraits traits() const override { return {.own_shapes = true}; }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const override {
    if (!this->frame_arguments.empty())
      bad_argument("{} has one value for each frame: only the frames move, no other part of a sample",
                   this->frame_arguments[0].first->name);
    Shape image = in[0].shape, result;
    Layout layout = layout_;
    if (extents_) {
      const int n = static_cast<int>(in[0].shape[0]);
      layout = n == 2 ? "HW" : "DHW";
      image = Shape::filled(n, 0);
      for (int i = 0; i < n; ++i) image[i] = in[0].template as<int32_t>()[i];
    }
    const PointMap map = map_of(s, layout, image, result);
    std::copy_n(map.m, (map.dims + 1) * (map.dims + 1), out[0].template as<double>());
    int dims[3];
    for (int i = spatial_dims(layout, dims) - 1; i >= 0; --i)
      out[1].template as<int64_t>()[i] = image[dims[i]], out[2].template as<int64_t>()[i] = result[dims[i]];
  }

 private:
  // `result`: the shape of the output, in the layout of the input.
  PointMap map_of(const SampleContext& s, const Layout& layout, const Shape& image, Shape& result) const {
    if constexpr (std::derived_from<Op, WholeOperator>) {
      const ValueType type{DType::none, image.size(), layout};
      op.shapes(s, std::span(&image, 1), std::span(&type, 1), std::span(&result, 1));
      if (!result.known()) bad_argument("parts of a sample need extents that do not depend on the batch");
      return op.point_map(s, image, layout);
    } else {
      Placement p(image, layout);
      op.map(s, p);
      result = p.shape();
      return point_map(p);
    }
  }
  Layout layout_;
  bool extents_ = false;  // the input has the extents of the image
};

// The name of the map of an operator.
inline std::string point_map_name(const std::string& op) { return "points." + op; }

template <class Op> OpInfo point_map_info(const OpInfo& of) {
  OpInfo info = of;
  info.name = point_map_name(of.name);
  info.follows = of.name;
  info.family = Family::whole;
  info.outputs = 3, info.max_inputs = info.min_inputs = 1;
  info.size_output.clear(), info.gpu_arguments.clear(), info.read_on_host.clear();
  info.reads_shapes = info.hidden = true;
  info.batch_wide = info.in_place = false;
  info.count_outputs = nullptr, info.maker = nullptr;
  info.make = []() -> std::unique_ptr<BoundOp> { return std::make_unique<PointMapAdaptor<Op>>(); };
  return info;
}

}  // namespace penstock
