// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/correlation.h"

namespace penstock {

struct Laplacian : WholeOperator {
  PerFrame<std::vector<int64_t>> window_size = std::vector<int64_t>{3}, smoothing_size;
  PerFrame<std::vector<float>> scale = std::vector<float>{1.0f};
  bool normalized_kernel = false;
  DType dtype = DType::none;
  std::string border_mode = "reflect_101";
  static constexpr int64_t kMost = 31;  // elements of a window along an axis

  static Schema<Laplacian> schema() {
    using Op = Laplacian;
    return Schema<Op>("laplacian",
                      "Computes the sum of the second derivatives along each axis except frames and channels.\n\nThe "
                      "derivative along an axis is Sobel's, as in OpenCV's Laplacian: [1, -2, 1], smoothed by binomial "
                      "windows along this axis and the others. Sums are in float32, in float64 for 32-bit and 64-bit "
                      "integers and float64. Layouts: F first, C "
                      "first or last; without a layout all axes, at most three; "
                      "the output keeps the layout. Types: all.\n\n"
                      "Example:\n"
                      ">>> image = penstock.tensor(np.zeros((48, 64, 3), np.uint8), layout=\"HWC\")\n"
                      ">>> result = fn.laplacian(image, window_size=5)")
        .arg("window_size", &Op::window_size,
             "Size of the derivative's window: odd, from 3 to 31, one value or one per axis. 1: [1, -2, 1] without "
             "smoothing, as OpenCV's Laplacian has by default.")
        .arg("smoothing_size", &Op::smoothing_size,
             "Size of the window that smooths a derivative along the other axes: odd, from 1 (no smoothing) to 31, "
             "one value or one per axis; default: the window_size of the derivative.")
        .arg("scale", &Op::scale, "Factor of the derivatives: one value, or one per axis.")
        .arg("normalized_kernel", &Op::normalized_kernel,
             "Scale each derivative by a power of two, so that the result does not grow with the windows; not with "
             "scale.")
        .arg("dtype", &Op::dtype, "Type of the result: float32, or the input's type, which is the default.")
        .arg("border_mode", &Op::border_mode,
             "The area outside the image: \"reflect_101\" (mirrored without repeating the edge), \"reflect\", "
             "\"replicate\", \"wrap\", or \"constant\": zeros.")
        .reads_images()
        .keeps_positions()
        .oracle("dali, opencv");
  }
  void ready() override {
    border_ = image_border("border_mode", border_mode);
    if (normalized_kernel && scale.given()) bad_argument("normalized_kernel and scale are mutually exclusive");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (in[0].ndim >= 0) convolved_axes(in[0].layout, in[0].ndim);
    if (dtype != DType::none && dtype != DType::float32 && in[0].dtype != DType::none && dtype != in[0].dtype)
      bad_type("dtype must be the input's type or float32, got {}", name_of(dtype));
    if (dtype != DType::none) out[0].dtype = dtype;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const bool frames = window_size.frames() || smoothing_size.frames() || scale.frames();
    each_frame(frames, in[0], out[0], [&](int64_t f, const View& from, const View& into) {
      const auto [first, axes] = convolved_axes(from.layout, from.shape.size());
      CorrelationRule::Coef c{};
      c.in = c.out = convolved_extents(from.shape, first, axes);
      c.border = border_;
      const auto weights = kernel({s.index, f}, axes, c.window);
      for (int i = 0; i < 3; ++i) c.anchor[i] = c.window[i] / 2;
      correlate(from, into, c, to, image_table(weights));
    });
  }

 private:
  static std::vector<double> convolve(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> r(a.size() + b.size() - 1);
    for (size_t i = 0; i < a.size(); ++i)
      for (size_t k = 0; k < b.size(); ++k) r[i + k] += a[i] * b[k];
    return r;
  }
  static std::vector<double> smoothing(int64_t size) {
    std::vector<double> w{1};
    while (static_cast<int64_t>(w.size()) < size) w = convolve(w, {1, 1});
    return w;
  }
  // The sum of the derivatives' windows; also writes its extents.
  std::vector<float> kernel(SampleFrame at, int axes, int64_t* window) const {
    const auto sizes = window_size[at];
    const auto smooths = smoothing_size.given() ? smoothing_size[at] : std::vector<int64_t>{};
    const auto scales = scale[at];
    const auto of = [&](const auto& list, const char* name, int i) {
      if (list.size() != 1 && static_cast<int>(list.size()) != axes)
        bad_argument("{} must have 1 or {} values, got {}", name, axes, list.size());
      return list[list.size() == 1 ? 0 : i];
    };
    int64_t most[3] = {1, 1, 1};
    std::vector<double> parts[3][3];
    for (int i = 0; i < axes; ++i) {
      const int64_t size = of(sizes, "window_size", i);
      if (size < 1 || size > kMost || size % 2 == 0)
        bad_argument("window_size must be odd, 1 to {}, got {}", kMost, size);
      int64_t bits = std::max<int64_t>(size, 3) - axes - 2;
      for (int k = 0; k < axes; ++k) {
        const int64_t smooth = smooths.empty() ? size : of(smooths, "smoothing_size", k);
        if (smooth < 1 || smooth > kMost || smooth % 2 == 0)
          bad_argument("smoothing_size must be odd, 1 to {}, got {}", kMost, smooth);
        if (k != i) bits += smooth;
        parts[i][k] = k == i ? convolve({1, -2, 1}, smoothing(size - 2)) : smoothing(smooth);
        most[k + 3 - axes] = std::max<int64_t>(most[k + 3 - axes], static_cast<int64_t>(parts[i][k].size()));
      }
      double factor = of(scales, "scale", i);
      if (normalized_kernel) factor = std::ldexp(1.0, -static_cast<int>(bits));
      for (double& w : parts[i][i]) w *= factor;
    }
    std::vector<double> sum(static_cast<size_t>(most[0] * most[1] * most[2]));
    for (int i = 0; i < axes; ++i) {
      const auto weight = [&](int d, int64_t at_most) {  // of dimension d, centered
        if (d < 3 - axes) return 1.0;
        const auto& w = parts[i][d - (3 - axes)];
        const int64_t k = at_most - (most[d] - static_cast<int64_t>(w.size())) / 2;
        return k >= 0 && k < static_cast<int64_t>(w.size()) ? w[k] : 0.0;
      };
      size_t n = 0;
      for (int64_t z = 0; z < most[0]; ++z)
        for (int64_t y = 0; y < most[1]; ++y)
          for (int64_t x = 0; x < most[2]; ++x) sum[n++] += weight(0, z) * weight(1, y) * weight(2, x);
    }
    std::copy_n(most, 3, window);
    return {sum.begin(), sum.end()};
  }
  int border_ = kBorderReflect101;
};
PENSTOCK_OPERATOR(Laplacian);

}  // namespace penstock
