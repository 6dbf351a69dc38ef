// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/roi_bins.h"

namespace penstock {

struct RoiAlign : WholeOperator {
  std::vector<int64_t> output_size = {7};
  float spatial_scale = 1.0f;
  int sampling_ratio = -1;
  bool aligned = true;

  static Schema<RoiAlign> schema() {
    using Op = RoiAlign;
    return Schema<Op>(
               "roi_align",
               "Averages regions of feature maps into grids of one size, with bilinear samples.\n\nThis is "
               "torchvision's roi_align (He et al. 2017, Mask R-CNN). Inputs: the maps, layout CHW or HWC, "
               "without one CHW; boxes (N, 4), left, top, right, bottom, float32. Output: the grids of all boxes, "
               "(N, C, height, width) or (N, height, width, C), layout FCHW or FHWC. Samples beyond one pixel "
               "outside are 0. Sums are in float32. Types: float16, float32.\n\n"
               "Example:\n"
               ">>> maps = np.arange(64, dtype=np.float32).reshape(1, 8, 8)\n"
               ">>> fn.roi_align(maps, np.float32([[0, 0, 4, 4]]), output_size=2, aligned=False).tolist()\n"
               "[[[[9.0, 11.0], [25.0, 27.0]]]]")
        .inputs(2)
        .input_names({"data", "boxes"})
        .arg("output_size", &Op::output_size, "Height and width of a grid, or one number for both.")
        .arg("spatial_scale", &Op::spatial_scale,
             "What coordinates of boxes are multiplied by to be those of the maps.", at_least(0))
        .arg("sampling_ratio", &Op::sampling_ratio,
             "Samples along an axis of a cell; 0 or less: as many as it has pixels, rounded up.", within(-1, 64))
        .arg("aligned", &Op::aligned,
             "Pixel (0, 0) has its center at 0.5. False: at 0, and boxes are at least a pixel.")
        .oracle("torchvision");
  }
  void ready() override {
    if (output_size.size() != 1 && output_size.size() != 2)
      bad_argument("output_size must be one number, or height and width, got {}", output_size.size());
    for (const int64_t n : output_size)
      if (n < 1 || n > 4096) bad_argument("output_size must be from 1 to 4096, got {}", n);
  }
  Layout input_layout(const ValueType& in) const override {
    return in.layout.empty() && in.ndim == 3 ? Layout("CHW") : in.layout;
  }
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype != DType::none && in[0].dtype != DType::float32 && in[0].dtype != DType::float16)
      bad_type("expected maps of float16 or float32, got {}: convert them before, such as with fn.cast",
               name_of(in[0].dtype));
    if (in[0].ndim >= 0 && input_layout(in[0]) != Layout("CHW") && input_layout(in[0]) != Layout("HWC"))
      bad_type("expected maps of the layout CHW or HWC, got '{}' with {} dimensions", in[0].layout.str(), in[0].ndim);
    if (in[1].dtype != DType::none && in[1].dtype != DType::float32)
      bad_type("expected boxes of float32, got {}", name_of(in[1].dtype));
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = {in[0].dtype, 4, input_layout(in[0]) == Layout("HWC") ? Layout("FHWC") : Layout("FCHW")};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    if (in[1].size() != 2 || (in[1][1] >= 0 && in[1][1] != 4))
      bad_argument("expected boxes of the shape (N, 4), got {}", in[1].text());
    const int64_t n = in[1][0], high = output_size[0], wide = output_size.back();
    out[0] = last(types) ? Shape{n, high, wide, in[0][2]} : Shape{n, in[0][0], high, wide};
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    if (out[0].volume() == 0) return;
    const bool channels_last = in[0].layout == Layout("HWC");
    const Shape& map = in[0].shape;
    const int64_t n = in[1].shape[0], high = output_size[0], wide = output_size.back();
    const int64_t channels = channels_last ? map[2] : map[0];
    const RoiRule::Coef coef{channels_last ? ImageRule::Extents{n, 1, high, wide, channels}
                                           : ImageRule::Extents{n * channels, 1, high, wide, 1},
                             in[1].as<const float>(),
                             channels_last ? map[0] : map[1],
                             channels_last ? map[1] : map[2],
                             channels,
                             spatial_scale,
                             aligned ? 0.5f : 0.0f,
                             sampling_ratio,
                             aligned};
    const auto host = [coef, n, from = in[0], into = out[0]] { align_regions(from, into, coef, n); };
    to.map(in[0], out[0], {&image_rule_text<RoiRule>, coef_bytes_of(coef), nullptr, nullptr, host});
  }

 private:
  bool last(std::span<const ValueType> types) const { return input_layout(types[0]) == Layout("HWC"); }
};
PENSTOCK_OPERATOR(RoiAlign);

}  // namespace penstock
