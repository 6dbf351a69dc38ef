// SPDX-License-Identifier: Apache-2.0
#include "operator/any_number.h"
#include "ops/shared/perspective.h"
#include "ops/shared/warp_arguments.h"

namespace penstock {

struct WarpPerspective : WholeOperator {
  PerFrame<std::vector<double>> matrix;
  PerSample<std::vector<float>> size;
  std::vector<float> fill_value;
  std::string border_mode = "constant", pixel_origin = "corner";
  int interp_type = 1;
  bool inverse_map = true;

  static Schema<WarpPerspective> schema() {
    using Op = WarpPerspective;
    return Schema<Op>("warp_perspective",
                      "Transforms images by a perspective map.\n\nOutput (x, y) is the input at (X / W, Y / W), where "
                      "(X, Y, W) = matrix (x, y, 1). Positions are as exact as in float64. Sums of uint8, int8, bool, "
                      "float16 and float32 are in float32, those of other types, or with a fill_value for each "
                      "channel, in float64; the weights of cubic interpolation have a = -0.75, as OpenCV's. "
                      "Layouts: HW, HWC, CHW, each also with a leading F; the output keeps the layout. Types: "
                      "all.\n\n"
                      "Example:\n"
                      ">>> image = np.zeros((48, 64, 3), np.uint8)\n"
                      ">>> result = fn.warp_perspective(image, matrix=[1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.001, 1.0])")
        .arg("matrix", &Op::matrix, "3 rows of 3 numbers, row by row. May be given as a second input.")
        .arg("size", &Op::size, "(height, width) of the output; default: those of the input.")
        .arg("border_mode", &Op::border_mode,
             "The area outside the image: \"constant\", \"replicate\", \"reflect\", \"reflect_101\", \"wrap\".")
        .arg("fill_value", &Op::fill_value, "The value of a \"constant\" border: one, or one per channel; default: 0.",
             any_number)
        .arg("interp_type", &Op::interp_type, "The interpolation: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC.")
        .arg("inverse_map", &Op::inverse_map, "The matrix maps output to input; otherwise it is inverted.")
        .arg("pixel_origin", &Op::pixel_origin,
             "The position (0, 0): \"corner\" or \"center\" (as in OpenCV) of the first pixel.")
        .argument_inputs({"matrix"})
        .float64(gather::kWhyFloat64)
        .oracle("dali, opencv");
  }
  void ready() override {
    border_ = image_border("border_mode", border_mode);
    sampling_kind("interp_type", interp_type);
    shift_ = pixel_shift(pixel_origin);
    if (!matrix.given()) bad_argument("the argument 'matrix' is required");
    fills_ = fill_value.size() > 1 ? image_table(fill_value) : nullptr;
  }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    out[0].layout = check_image(in[0]);
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    out[0] = in[0];
    const Layout layout = check_image(types[0]);
    if (const auto h = extent_of_canvas(size, s.index, 0, 2)) out[0][layout.find('H')] = *h;
    if (const auto w = extent_of_canvas(size, s.index, 1, 2)) out[0][layout.find('W')] = *w;
  }
  PointMap point_map(const SampleContext& s, const Shape&, const Layout&) const override {
    PointMap to_input;
    matrix_at({s.index, 0}, to_input.m);
    const double center = 0.5 - shift_;  // (0, 0) of the matrix, from the corner of the first pixel
    double* m = to_input.m;
    for (int c = 0; c < 3; ++c) m[c] += center * m[6 + c], m[3 + c] += center * m[6 + c];
    for (int r = 0; r < 3; ++r) m[3 * r + 2] -= center * (m[3 * r] + m[3 * r + 1]);
    return inverse(to_input);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    each_frame(matrix.frames(), in[0], out[0], [&](int64_t f, const View& from, const View& into) {
      double m[9];
      matrix_at({s.index, f}, m);
      if (fills_) return sample_filled(from, into, m, to);
      gather::sample<PerspectiveRule>(from, into, PerspectiveRule::coef(m, shift_),
                                      {static_cast<gather::Filter>(interp_type), static_cast<gather::Border>(border_),
                                       fill_value.empty() ? 0.0f : fill_value[0]},
                                      to);
    });
  }

 private:
  // From output to input.
  void matrix_at(SampleFrame at, double* m) const {
    const auto given = matrix[at];
    if (given.size() != 9) bad_argument("matrix must have 9 values, got {}", given.size());
    for (const double v : given)
      if (!std::isfinite(v)) bad_argument("matrix must be finite");
    std::copy_n(given.begin(), 9, m);
    if (!inverse_map) invert(given, m);
  }
  void sample_filled(const View& from, const View& into, const double* m, SampleWork& to) const {
    FilledPerspectiveRule::Coef c{};
    c.out = image_extents(into.shape, from.layout);
    c.source = {image_extents(from.shape, from.layout), border_, interp_type, 0};
    if (from.volume() == 0) c.source.border = kBorderConstant;
    c.shift = shift_;
    const int channel = from.layout.find('C');
    c.channels = channel < 0 ? 1 : from.shape[channel];
    c.channels_first = channel >= 0 && channel < from.layout.find('H');
    if (c.channels != static_cast<int64_t>(fill_value.size()))
      bad_argument("fill_value must have 1 or {} values, got {}", c.channels, fill_value.size());
    std::copy_n(m, 9, c.m);
    map_image<FilledPerspectiveRule>(from, into, c, to, fills_);
  }
  static void invert(const std::vector<double>& m, double* to) {  // by its cofactors
    double largest = 0;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        const int a = (c + 1) % 3, b = (c + 2) % 3, d = (r + 1) % 3, e = (r + 2) % 3;
        to[r * 3 + c] = m[a * 3 + d] * m[b * 3 + e] - m[a * 3 + e] * m[b * 3 + d];
      }
    const double determinant = m[0] * to[0] + m[1] * to[3] + m[2] * to[6];
    for (int i = 0; i < 9; ++i) largest = std::max(largest, std::fabs(to[i]));
    if (determinant == 0 || !std::isfinite(largest)) bad_argument("the matrix is singular and cannot be inverted");
    for (int i = 0; i < 9; ++i) to[i] /= determinant;
  }
  int border_ = 0;
  double shift_ = 0;
  ImageTable fills_;
};
PENSTOCK_OPERATOR(WarpPerspective);

}  // namespace penstock
