// SPDX-License-Identifier: Apache-2.0
#include "operator/image_layout.h"
#include "ops/shared/interpolation.h"
#include "ops/shared/random_window.h"

namespace penstock {

struct RandomResizedCrop : ResampleOperator, Interpolation, RandomWindow {
  std::vector<int64_t> size;
  DType dtype = DType::none;

  static Schema<RandomResizedCrop> schema() {
    using Op = RandomResizedCrop;
    return Schema<Op>(
               "random_resized_crop",
               "Draws a window of random area and aspect ratio, and resizes it to a fixed size.\n\nThe filter also "
               "reads pixels outside the window, as that of resize does for a region. Layouts: those of images and "
               "sequences; the output keeps the layout; all frames have the same window. Types: all.")
        .required("size", &Op::size, "(height, width) of the result, or one value for both.", above(0))
        .with(&random_window_arguments<Op>)
        .with(&interpolation_arguments<Op>)
        .arg("dtype", &Op::dtype, "Type of the result; default: the input's.")
        .float64(
            "the weights and positions of taps, once for each row and column of a tile, because float32 has too "
            "few digits for positions in large images")
        .oracle("dali");
  }
  void ready() override {
    if (size.empty() || size.size() > 2) bad_argument("size must be (height, width), got {} values", size.size());
    if (height() > INT32_MAX || width() > INT32_MAX)
      bad_argument("size must fit into 32 bits, got {}", to_text(Value{size}));
    check_random_window();
  }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  Layout input_layout(const ValueType& in) const override { return image_layout(in); }
  void check(std::span<const ValueType> in) override {
    if (image_layout(in[0]).has('D')) bad_type("expected images, got the layout '{}' of volumes", in[0].layout.str());
  }
  void map(const SampleContext& s, Placement& p) const override {
    const int y = p.dim('H'), x = p.dim('W');
    const ImageWindow w = image_window(s.index, draw(s, p.extent(y), p.extent(x)));
    p.filter(y, filter_of(w.y));
    p.filter(x, filter_of(w.x));
  }
  bool image_windows(std::span<const SampleContext> samples, std::span<const ImageExtent> images,
                     std::span<ImageWindow> windows) const override {
    std::vector<Window> drawn(samples.size());
    draw_all(samples, images, drawn);
    if (!constant_filters()) {
      for (size_t i = 0; i < samples.size(); ++i) windows[i] = image_window(samples[i].index, drawn[i]);
      return true;
    }
    AxisWindow like[2][2];  // whether an axis, y first, grows or shrinks: computed once
    bool known[2][2] = {};
    const auto put = [&](int axis, int64_t start, int64_t extent, int64_t out, AxisWindow& to) {
      const auto lo = static_cast<double>(start), hi = lo + static_cast<double>(extent);
      const int kind = shrinks(lo, hi, out);
      AxisWindow& own = like[axis][kind];
      if (!known[axis][kind]) own = axis_window(0, lo, hi, out), known[axis][kind] = true;
      to = own;
      to.lo = lo, to.hi = hi;
    };
    for (size_t i = 0; i < samples.size(); ++i) {
      put(0, drawn[i].y, drawn[i].height, height(), windows[i].y);
      put(1, drawn[i].x, drawn[i].width, width(), windows[i].x);
    }
    return true;
  }
  int64_t out_extent(const SampleContext&, char axis, int64_t in) const override {
    return axis == 'H' ? height() : axis == 'W' ? width() : in;
  }

 private:
  ImageWindow image_window(int sample, const Window& w) const {
    const auto y = static_cast<double>(w.y), x = static_cast<double>(w.x);
    return {axis_window(sample, y, y + static_cast<double>(w.height), height()),
            axis_window(sample, x, x + static_cast<double>(w.width), width())};
  }
  int64_t height() const { return size.front(); }
  int64_t width() const { return size.back(); }  // one value means both, as in DALI
};
PENSTOCK_OPERATOR(RandomResizedCrop);

}  // namespace penstock
