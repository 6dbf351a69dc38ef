// SPDX-License-Identifier: Apache-2.0
#include "base/notice.h"
#include "ops/shared/correlation.h"
#include "pixel/gaussian_windows.h"

namespace penstock {

struct GaussianBlur : ConvolutionOperator {
  PerFrame<std::vector<float>> sigma = std::vector<float>{0.0f};
  PerFrame<std::vector<int64_t>> window_size = std::vector<int64_t>{0};
  DType dtype = DType::none;
  std::string border_mode = "reflect_101";

  static Schema<GaussianBlur> schema() {
    using Op = GaussianBlur;
    return Schema<Op>("gaussian_blur",
                      "Convolves images with a Gaussian along each axis except frames and channels.\n\nThe filter is "
                      "separable; its weights are computed in float64 and normalized, sums are in float32. Layouts: F "
                      "first, C first or last; without a layout all axes are "
                      "convolved; at most three of them; the output keeps the layout. Types: all.\n\n"
                      "Example:\n"
                      ">>> image = penstock.tensor(np.zeros((48, 64, 3), np.uint8), layout=\"HWC\")\n"
                      ">>> result = fn.gaussian_blur(image, sigma=1.5)")
        .arg("sigma", &Op::sigma,
             "Standard deviation in samples, one value or one per axis, outermost first. 0: computed from the window, "
             "((window - 1) / 2 - 1) * 0.3 + 0.8.")
        .arg("window_size", &Op::window_size,
             "Number of samples of the window, one value or one per axis. An even number becomes the next odd one, "
             "with a warning. 0: 2 * ceil(3 * sigma) + 1.")
        .arg("dtype", &Op::dtype, "Type of the result; default: the input's.")
        .arg("border_mode", &Op::border_mode,
             "The area outside the image: \"reflect_101\" (mirrored without repeating the edge), \"reflect\", "
             "\"replicate\", or \"constant\": zeros.")
        .reads_images()
        .float64(
            "the positions of windows, once for each row and column of a tile, because float32 has too few digits"
            " for positions in large images")
        .oracle("dali, opencv");
  }
  void ready() override {
    using Border = AxisFilter::Border;
    const int border = image_border("border_mode", border_mode);
    if (border == kBorderWrap)  // a filter reads samples that are next to each other
      bad_argument("border_mode \"wrap\" is that of box_blur and correlate alone");
    constexpr Border kBorders[] = {Border::cut, Border::clamp, Border::reflect_101, Border::reflect_1001};
    border_ = kBorders[border];  // what is outside adds nothing
  }
  void check(std::span<const ValueType> in) override {
    if (!sigma.given() && !window_size.given()) bad_argument("sigma or window_size must be given");
    if (in[0].ndim >= 0) convolved_axes(in[0].layout, in[0].ndim);
  }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  void windows(const SampleContext& s, const Layout& layout, int ndim, AxisWindows& w) const override {
    const auto [first, n] = convolved_axes(layout, ndim);
    const auto sigmas = sigma.values(s.values());
    const auto sizes = window_size.values(s.values());
    auto check_count = [&, n = n](const char* name, size_t count) {
      if (count == 1 || static_cast<int>(count) == n) return;
      bad_argument("{} must have 1 or {} values, got {}{}", name, n, count,
                   layout.empty() ? "; without a layout all axes are convolved" : "");
    };
    check_count("sigma", sigmas.size()), check_count("window_size", sizes.size());
    w.first = first;
    for (int i = 0; i < n; ++i) {
      const float deviation = sigmas[sigmas.size() == 1 ? 0 : i];
      int64_t size = sizes[sizes.size() == 1 ? 0 : i];
      if (!(deviation >= 0 && deviation <= 1e6f)) bad_argument("sigma must be from 0 to 1e6, got {}", deviation);
      if (size < 0 || size > 10000000) bad_argument("window_size must not be negative, got {}", size);
      if (size > 0 && size % 2 == 0) {
        notice("[gaussian_blur] an even window_size has no center: the next odd one is used");
        ++size;
      }
      if (deviation == 0 && size == 0) bad_argument("sigma or window_size must be positive");
      if (i == 0 || sigmas.size() > 1 || sizes.size() > 1) {
        w.sizes.push_back(add_gaussian_window(deviation, static_cast<int>(size), w.weights));
      } else {
        w.same = true;
        w.sizes.push_back(w.sizes.back());
      }
    }
  }
  // If all samples have the same sigma, and a window that does not depend on it.
  bool all_windows(std::span<const SampleContext> samples, const Layout& layout, int ndim,
                   AxisWindows& w) const override {
    if (sigma.constant() || sigma.frames() || !window_size.constant() || window_size.one().size() != 1) return false;
    const int64_t size = window_size.one()[0];
    if (size < 1 || size % 2 == 0 || size > 10000000) return false;
    const auto [first, n] = convolved_axes(layout, ndim);
    w.first = first, w.same = true;
    for (int i = 0; i < n; ++i) w.sizes.push_back(static_cast<int>(size));
    std::vector<float> deviations(samples.size());
    const Batch& given = *sigma.batch();
    for (size_t i = 0; i < samples.size(); ++i) {
      const Shape& shape = given.shape(samples[i].index);
      if (!shape.empty() && shape.volume() != 1) return false;
      const auto deviation = stored_number<float>(given, samples[i].index);
      if (!(deviation >= 0 && deviation <= 1e6f)) return false;
      deviations[i] = deviation;
    }
    w.weights.resize(samples.size() * static_cast<size_t>(size));
    gaussian_windows(deviations, static_cast<int>(size), w.weights.data());
    return true;
  }
  void map(const SampleContext& s, Placement& p) const override {
    AxisWindows w;
    windows(s, p.layout(), p.ndim(), w);
    if (p.layout().empty() && p.ndim() == 3 && p.extent(2) <= 4)  // a NumPy array, most often a picture
      notice(
          "[gaussian_blur] an input without a layout is blurred along all axes, including the last one, which looks "
          "like channels; penstock.tensor(x, \"HWC\") gives it a layout");
    auto weight = w.weights.begin();
    for (int i = 0; i < w.sizes.size(); ++i) {
      AxisFilter f;
      f.kind = FilterKind::window;
      f.window.assign(weight, weight + w.sizes[i]);
      if (!w.same) weight += w.sizes[i];
      f.border = border_;
      f.antialias = false;
      f.out = p.extent(w.first + i);
      f.hi = static_cast<double>(f.out);
      p.filter(w.first + i, std::move(f));
    }
  }
  int64_t out_extent(const SampleContext&, char, int64_t in) const override { return in; }

 private:
  AxisFilter::Border border_ = AxisFilter::Border::reflect_101;
};
PENSTOCK_OPERATOR(GaussianBlur);

}  // namespace penstock
