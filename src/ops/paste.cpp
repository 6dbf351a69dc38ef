// SPDX-License-Identifier: Apache-2.0
#include "operator/any_number.h"
#include "operator/image_work.h"

namespace penstock {

struct Paste : WholeOperator {
  std::vector<float> fill_value;
  PerSample<float> ratio = 1.0f, paste_x = 0.5f, paste_y = 0.5f, min_canvas_size = 0.0f;
  int n_channels = 3;

  static Schema<Paste> schema() {
    using Op = Paste;
    return Schema<Op>("paste",
                      "Pastes an image onto a larger canvas of one color.\n\nThe canvas has the extents trunc(ratio * "
                      "extent), and at least trunc(min_canvas_size). Layouts: HWC, HW; the output keeps it. Types: "
                      "all; the color is rounded and saturated.\n\n"
                      "Example:\n"
                      ">>> fn.paste(np.zeros((48, 64, 3), np.uint8), fill_value=[0, 0, 0], ratio=2.0).shape\n"
                      "(96, 128, 3)")
        .required("fill_value", &Op::fill_value, "The color: one value, or one for each channel.", any_number)
        .required("ratio", &Op::ratio, "Extents of the canvas divided by those of the image, at least 1.", at_least(1))
        .arg("paste_x", &Op::paste_x, "Horizontal position of the image in the free width: 0 is left, 1 is right.",
             within(0, 1))
        .arg("paste_y", &Op::paste_y, "Vertical position of the image in the free height: 0 is the top, 1 the bottom.",
             within(0, 1))
        .arg("min_canvas_size", &Op::min_canvas_size, "The minimum extents of the canvas.", at_least(0))
        .arg("n_channels", &Op::n_channels, "Accepted without effect: the input has this information.")
        .takes_bfloat16()
        .oracle("dali");
  }
  Layout input_layout(const ValueType& in) const override { return image_layout(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    out[0].layout = image_layout(in[0]);
    const Layout& layout = out[0].layout;
    if (in[0].ndim >= 0 && layout != Layout("HWC") && layout != Layout("HW"))
      bad_type("expected HWC or HW, got '{}'", layout.str());
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
    const float by = ratio[s.index], least = min_canvas_size[s.index];
    if (!(by >= 1 && by <= 65536)) bad_argument("ratio must be from 1 to 65536, got {}", by);
    if (!(least >= 0 && least < 1e9f)) bad_argument("min_canvas_size must be at least 0, got {}", least);
    for (int d = 0; d < 2; ++d)
      if (in[0][d] >= 0)
        out[0][d] = std::max(static_cast<int64_t>(by * static_cast<float>(in[0][d])), static_cast<int64_t>(least));
  }
  PointMap point_map(const SampleContext& s, const Shape& image, const Layout&) const override {
    Shape canvas;
    shapes(s, std::span(&image, 1), {}, std::span(&canvas, 1));
    PointMap map;
    map.m[2] = static_cast<double>(place(s.index, 1, canvas[1] - image[1]));
    map.m[5] = static_cast<double>(place(s.index, 0, canvas[0] - image[0]));
    return map;
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int64_t channels = in[0].shape.size() == 3 ? in[0].shape[2] : 1;
    if (static_cast<int64_t>(fill_value.size()) != channels && fill_value.size() != 1)
      bad_argument("fill_value must have 1 or {} values, got {}", channels, fill_value.size());
    // Slabs around the image: above and below it, then at its sides.
    View image = out[0];
    for (int d = 0; d < 2; ++d) {
      const int64_t extent = in[0].shape[d], free = out[0].shape[d] - extent, before = place(s.index, d, free);
      for (const auto& [begin, n] : {std::pair{int64_t{0}, before}, std::pair{before + extent, free - before}})
        if (const View slab = part(image, d, begin, n); slab.volume() > 0)
          to.fill(slab, {fill_value, {}}, fill_value.size() > 1 ? 2 : -1);
      image = part(image, d, before, extent);
    }
    if (image.volume() > 0) to.copy(in[0], image);
  }

 private:
  // Where the image begins along dimension d, of which `free` elements are not of it.
  int64_t place(int sample, int d, int64_t free) const {
    const float at = d == 0 ? paste_y[sample] : paste_x[sample];
    if (!(at >= 0 && at <= 1)) bad_argument("paste_x and paste_y must be from 0 to 1, got {}", at);
    return static_cast<int64_t>(at * static_cast<float>(free));
  }
};
PENSTOCK_OPERATOR(Paste);

}  // namespace penstock
