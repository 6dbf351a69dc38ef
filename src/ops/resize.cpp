// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/resize_arguments.h"

namespace penstock {

struct Resize : ResampleOperator, ResizeArguments {
  bool save_attrs = false;
  Optional<int> image_type;

  static Schema<Resize> schema() {
    return Schema<Resize>(
               "resize",
               "Resizes images and volumes.\n\nThe filters are separable, over the axes D, H and W; weights are "
               "computed in float64, sums in float32. Samples outside the input repeat its edge, or have no weight. A "
               "region limits the "
               "position of the result, not what the filter reads. Layouts: any with H and W; the output keeps the "
               "layout. Types: all. Cubic: Keys 1981 (a = -0.5).\n\nWith compat=\"opencv\", bytes are cv2.resize's for "
               "nearest, and differ by at most 1 for linear (12 % of bytes of noise: OpenCV cuts bits between the "
               "axes), "
               "cubic (1 %) and LANCZOS4 (2 %). Area gives OpenCV's bytes where it makes means of whole pixels and "
               "their "
               "number is odd or a power of two, else a byte may differ by 1 where its mean is a half.\n\n"
               "Example:\n"
               ">>> image = np.zeros((480, 640, 3), np.uint8)\n"
               ">>> small = fn.resize(image, size=[240, 320], interp_type=\"area\", compat=\"opencv\")")
        .with(&resize_arguments<Resize>)
        .arg("save_attrs", &Resize::save_attrs,
             "Add an output: the extents of the input along D, H and W, int32, outermost first.")
        .arg("image_type", &Resize::image_type, "Deprecated; accepted without effect.")
        .size_output("save_attrs")
        .float64(
            "the weights and positions of taps, once for each row and column of a tile, because float32 has too "
            "few digits for positions in large images")
        .oracle("dali, opencv, pillow");
  }
  void ready() override { check_resize_arguments(); }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  Layout input_layout(const ValueType& in) const override { return image_layout(in); }
  void check(std::span<const ValueType> in) override { layout = image_layout(in[0]), resized_type = in[0].dtype; }
  void map(const SampleContext& s, Placement& p) const override { resize(s, p); }
  int64_t out_extent(const SampleContext& s, char axis, int64_t in) const override {
    if (axis != 'D' && axis != 'H' && axis != 'W') return in;
    int at = 0;
    for (int i = 0; i < layout.size() && layout[i] != axis; ++i)
      at += layout[i] == 'D' || layout[i] == 'H' || layout[i] == 'W';
    return resized_extent(resize_request(s, layout), at);
  }
  Layout layout;
};
PENSTOCK_OPERATOR(Resize);

}  // namespace penstock
