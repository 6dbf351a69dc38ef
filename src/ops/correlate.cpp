// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/correlation.h"

namespace penstock {

struct Correlate : WholeOperator {
  PerFrame<std::vector<int64_t>> anchor = std::vector<int64_t>{-1};
  std::string border = "reflect_101", mode = "same";
  DType dtype = DType::none;

  static Schema<Correlate> schema() {
    using Op = Correlate;
    return Schema<Op>("correlate",
                      "Replaces each element of an image by the weighted sum of its neighbors.\n\n"
                      "This is SciPy's correlate and OpenCV's filter2D. Inputs: the images; the filters, float32 with "
                      "one dimension for each axis except frames and channels, and with a leading F one filter for "
                      "each frame; optionally the value outside a \"constant\" border, one scalar of the image's type "
                      "per sample, default 0. Sums are in float32, in float64 for 32-bit and 64-bit integers and "
                      "float64. Layouts: F first, C first or last; without a layout "
                      "all axes, at most three; the output keeps the layout. Types: all.\n\n"
                      "Example:\n"
                      ">>> image, weights = np.ones((4, 4), np.float32), np.ones((3, 3), np.float32)\n"
                      ">>> fn.correlate(image, weights)[0].tolist()\n"
                      "[9.0, 9.0, 9.0, 9.0]")
        .inputs(2, 3)
        .input_names({"data", "filter", "fill_value"})
        .arg("anchor", &Op::anchor,
             "The element of the filter that lies over the output's element: one value, or one per axis. -1: the "
             "middle, rounded down.")
        .arg("border", &Op::border,
             "The border: \"reflect_101\", \"reflect_1001\", \"wrap\", \"clamp\" or \"constant\".")
        .arg("mode", &Op::mode,
             "\"same\": the output is as large as the input. \"valid\": only where the filter lies inside the input.")
        .arg("dtype", &Op::dtype, "Type of the result: float32, or the input's type, which is the default.")
        .keeps_positions()
        .oracle("dali, opencv");
  }
  void ready() override {
    border_ = image_border("border", border);
    if (mode != "same" && mode != "valid") bad_argument("mode must be \"same\" or \"valid\", got \"{}\"", mode);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (in[0].ndim >= 0) convolved_axes(in[0].layout, in[0].ndim);
    if (in[1].dtype != DType::float32 && in[1].dtype != DType::none)
      bad_type("filters must be float32, got {}", name_of(in[1].dtype));
    if (in.size() > 2 && in[2].dtype != in[0].dtype && in[2].dtype != DType::none && in[0].dtype != DType::none)
      bad_type("the fill value must be of the input's type {}, got {}", name_of(in[0].dtype), name_of(in[2].dtype));
    if (dtype != DType::none && dtype != DType::float32 && in[0].dtype != DType::none && dtype != in[0].dtype)
      bad_type("dtype must be the input's type or float32, got {}", name_of(dtype));
    if (dtype != DType::none) out[0].dtype = dtype;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    out[0] = in[0];
    if (mode == "same") return;
    const auto [first, axes] = convolved_axes(types[0].layout, in[0].size());
    const int lead = in[1].size() - axes;
    if (lead < 0 || lead > 1) bad_argument("a filter of {} dimensions does not fit {} axes", in[1].size(), axes);
    for (int i = 0; i < axes; ++i) {
      int64_t& n = out[0][first + i];
      if (n < 0 || in[1][lead + i] < 0) {
        n = -1;
      } else {
        if (in[1][lead + i] > n) bad_argument("the filter {} is larger than the sample {}", in[1].text(), in[0].text());
        n -= in[1][lead + i] - 1;
      }
    }
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const bool per_frame = !in[1].layout.empty() && in[1].layout[0] == 'F';
    const bool frames = per_frame || anchor.frames();
    if (per_frame && in[1].shape[0] != frames_in(in[0]))
      bad_argument("{} filters do not match {} frames", in[1].shape[0], frames_in(in[0]));
    each_frame(frames, in[0], out[0], [&](int64_t f, const View& from, const View& into) {
      const View filter = frame_of(in[1], f);
      const auto [first, axes] = convolved_axes(from.layout, from.shape.size());
      if (filter.shape.size() != axes)
        bad_argument("a filter of {} dimensions does not fit {} axes", filter.shape.size(), axes);
      if (filter.volume() == 0) bad_argument("the filter is empty");
      CorrelationRule::Coef c{};
      c.in = convolved_extents(from.shape, first, axes), c.out = convolved_extents(into.shape, first, axes);
      c.border = border_;
      c.weights = filter.as<const float>();
      if (in.size() > 2) c.fill = in[2].data;
      const auto anchors = anchor[SampleFrame{s.index, f}];
      if (anchors.size() != 1 && static_cast<int>(anchors.size()) != axes)
        bad_argument("anchor must have 1 or {} values, got {}", axes, anchors.size());
      for (int d = 0; d < 3; ++d) {
        const int i = d - (3 - axes);
        c.window[d] = i < 0 ? 1 : filter.shape[i];
        const int64_t given = i < 0 ? 0 : anchors[anchors.size() == 1 ? 0 : i];
        if (given < -1 || given >= c.window[d])
          bad_argument("anchor {} is outside the filter's {} elements", given, c.window[d]);
        c.anchor[d] = mode == "valid" ? 0 : given < 0 ? c.window[d] / 2 : given;
      }
      correlate(from, into, c, to);
    });
  }

 private:
  int border_ = 0;
};
PENSTOCK_OPERATOR(Correlate);

}  // namespace penstock
