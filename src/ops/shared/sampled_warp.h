// SPDX-License-Identifier: Apache-2.0
// Affine warps that no stage makes: of images, with cubic interpolation or a border that repeats the image.
#pragma once
#include "operator/forms.h"
#include "operator/named_numbers.h"
#include "ops/shared/perspective.h"
#include "ops/shared/warp_arguments.h"

namespace penstock {

// A form with the arguments of an operator (warp_arguments.h), which also say if its frames have maps of their own:
//   bool by_frame() const;
template <class Arguments> struct SampledWarp : WholeOperator, Arguments {
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const Layout layout = image_layout(in[0]);
    if (layout.has('D'))
      bad_type("cubic interpolation and the borders reflect, reflect_101 and wrap are for images, got the layout '{}'",
               layout.str());
    if (this->dtype != DType::none && in[0].dtype != DType::none && this->dtype != in[0].dtype)
      bad_argument(
          "cubic interpolation and the borders reflect, reflect_101 and wrap keep the type: cast the result instead of "
          "dtype");
    out[0] = in[0];
    out[0].layout = check_image(in[0]);
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    out[0] = in[0];
    const Layout layout = check_image(types[0]);
    const int y = layout.find('H'), x = layout.find('W');
    out[0][y] = this->extent_known(s.index, 'H', in[0][y]), out[0][x] = this->extent_known(s.index, 'W', in[0][x]);
    if ((out[0][y] >= 0 && out[0][x] >= 0) || in[0][y] < 0 || in[0][x] < 0) return;
    const AffineMap map = map_of({s.index, 0}, in[0], layout);
    out[0][y] = map.out[1], out[0][x] = map.out[2];
  }
  PointMap point_map(const SampleContext& s, const Shape& image, const Layout& layout) const override {
    PointMap to_input;
    std::copy_n(map_of({s.index, 0}, image, layout).m, 6, to_input.m);
    return inverse(to_input);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    each_frame(this->by_frame(), in[0], out[0], [&](int64_t f, const View& from, const View& into) {
      double m[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1};
      std::copy_n(map_of({s.index, f}, from.shape, from.layout).m, 6, m);
      gather::sample<PerspectiveRule>(from, into, PerspectiveRule::coef(m, 0.5),
                                      {static_cast<gather::Filter>(this->interp_type),
                                       static_cast<gather::Border>(this->border()), this->fill(from.dtype)},
                                      to);
    });
  }

 private:
  AffineMap map_of(SampleFrame at, const Shape& image, const Layout& layout) const {
    const int64_t extents[2] = {image[layout.find('W')], image[layout.find('H')]};
    return this->affine_map(at, 2, extents);
  }
};

// The form of these arguments: "@sampled", or none.
inline std::string choose_warp(const OpInfo& info, size_t, std::span<const Argument> args) {
  for (size_t k = 0; k < args.size(); ++k) {
    if (!args[k].given()) continue;
    if (info.args[k].name == "interp_type") {
      Argument named;
      named.value = without_name(info.args[k], args[k].value);
      check_range(info.args[k], named);
      if (value_as<int64_t>(named.value) == 2) return info.name + "@sampled";
    } else if (info.args[k].name == "border_mode") {
      const int border = image_border("border_mode", value_as<std::string>(args[k].value));
      if (border != kBorderConstant && border != kBorderClamp) return info.name + "@sampled";
    }
  }
  return info.name;
}

}  // namespace penstock
