// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "base/notice.h"
#include "ops/shared/crop_window.h"
#include "operator/image_layout.h"
#include "ops/shared/out_of_bounds.h"

namespace penstock {

struct CropMirrorNormalize : MapPixelOperator, CropWindow, OutOfBounds {
  PerSample<int> mirror = 0;
  PerSample<std::vector<float>> mean = std::vector<float>{0.0f};
  PerSample<std::vector<float>> std = std::vector<float>{1.0f};
  float scale = 1.0f, shift = 0.0f;
  std::string layout_wanted = "CHW";
  bool pad_output = false;
  DType dtype = DType::float32, old_dtype = DType::none;
  Optional<int> image_type;

  static Schema<CropMirrorNormalize> schema() {
    using Op = CropMirrorNormalize;
    return Schema<Op>(
               "crop_mirror_normalize",
               "Cuts a window out of an image, mirrors and normalizes it, and gives it a network's layout.\n\n"
               "out = scale * (in - mean) / std + shift, computed in float32 as (in - mean) * (scale / std) + shift. "
               "Layouts: any with H, W and C. Types: all; float64 is computed in float32.")
        .with(&crop_window_arguments<Op>)
        .with(&out_of_bounds_arguments<Op>)
        .arg("mirror", &Op::mirror, "Mirror the image left to right if this is not 0.")
        .arg("mean", &Op::mean, "Subtracted from the input: one value, or one per channel.")
        .arg("std", &Op::std, "Divisor after the subtraction: one value, or one per channel.")
        .arg("scale", &Op::scale, "Factor of the normalized values: `scale` in the formula above.")
        .arg("shift", &Op::shift, "Added to the scaled values.")
        .arg("output_layout", &Op::layout_wanted, "A permutation of the input's layout; '' keeps the layout.")
        .arg("pad_output", &Op::pad_output,
             "Add channels up to the next power of two. Their value is fill_values if out_of_bounds_policy is "
             "constant, otherwise 0.")
        .arg("dtype", &Op::dtype, "Type of the result.")
        .arg("output_dtype", &Op::old_dtype, "Deprecated name of dtype.")
        .arg("image_type", &Op::image_type, "Deprecated; accepted without effect.")
        .oracle("dali");
  }
  void ready() override {
    check_crop_window();
    check_out_of_bounds();
    if (old_dtype != DType::none) dtype = old_dtype;
  }
  bool fills() const override { return constant() || pad_output; }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  Layout input_layout(const ValueType& in) const override { return image_layout(in, "DHWC"); }
  void check(std::span<const ValueType> in) override {
    warn_of_units(in[0].dtype);
    const Layout from = input_layout(in[0]);
    if (from.empty() || layout_wanted.empty()) return;
    std::string a = from.str(), b = layout_wanted;
    std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
    if (a != b)
      bad_argument("output_layout '{}' is not a permutation of the input's layout '{}'", layout_wanted, from.str());
  }
  // The numbers that torchvision uses are for pixels from 0 to 1; those of integers reach 255 and more.
  void warn_of_units(DType in) const {
    const auto small = [](const PerSample<std::vector<float>>& v) {
      return v.given() && v.constant() && !v.one().empty() &&
             std::all_of(v.one().begin(), v.one().end(), [](float x) { return x > 0 && x < 1; });
    };
    if (is_integer(in) && scale == 1.0f && small(mean) && small(std))
      notice(
          fmt::format("crop_mirror_normalize: mean and std between 0 and 1 are for pixels from 0 to 1, but the input "
                      "is {}: multiply both by 255",
                      name_of(in)));
  }
  Layout output_layout(const Layout& in) const override { return layout_wanted.empty() ? in : Layout(layout_wanted); }
  static int64_t padded(int64_t channels) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(channels)));
  }

  void map(const SampleContext& s, Placement& p) const override {
    each_window(s.index, p, [&](int dim, int64_t start, int64_t extent) { window(p, dim, start, extent); });
    if (mirror[s.index])
      if (const int w = p.dim('W'); p.extent(w) > 0) p.window(w, p.extent(w) - 1, p.extent(w), -1);
    const int c = p.dim('C');
    const int64_t channels = c < 0 ? 1 : p.extent(c);
    check_count("mean", count_of(mean, s.index), channels);
    check_count("std", count_of(std, s.index), channels);
    if (pad_output && c >= 0) {
      p.fill(0.0f);
      p.window(c, 0, padded(channels));
    }
    fill(p, c < 0 ? -1 : p.extent(c));
  }
  int64_t out_extent(const SampleContext& s, char axis, int64_t in) const override {
    if (axis == 'C' && in >= 0 && pad_output) return padded(in);
    return trims() && in < 0 ? -1 : known_extent(s.index, axis, in);
  }
  static size_t count_of(const PerSample<std::vector<float>>& v, int sample) {
    return v.constant() ? v.one().size() : static_cast<size_t>(v.batch()->shape(sample).volume());
  }
  static void check_count(const char* name, size_t count, int64_t channels) {
    if (count != 1 && static_cast<int64_t>(count) != channels)
      bad_argument("{} must have 1 or {} values, got {}", name, channels, count);
  }

  PENSTOCK_PIXEL(
      template <class V> struct Coef { V mean, factor, shift; };
      template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c) { return fma(in - c.mean, c.factor, c.shift); });
  Coef<float> coef(int sample, int channel) const {
    auto of = [&](const PerSample<std::vector<float>>& v) {
      const auto own = v.values(sample);
      return own[own.size() == 1 ? 0 : channel];
    };
    return {of(mean), scale / of(std), shift};
  }
  bool coefs_vary() const override { return !mean.constant() || !std.constant(); }
  int fused_multiply_adds(const Coef<float>& c, float* mul_adds) const {  // 1 * in - mean rounds as in - mean does
    return mul_adds[0] = 1, mul_adds[1] = -c.mean, mul_adds[2] = c.factor, mul_adds[3] = c.shift, 2;
  }
};
PENSTOCK_OPERATOR(CropMirrorNormalize);

}  // namespace penstock
