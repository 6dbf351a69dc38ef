// SPDX-License-Identifier: Apache-2.0
#include "families/window/box.h"
#include "ops/shared/adaptive_rules.h"
#include "ops/shared/correlation.h"
#include "ops/shared/threshold_mode.h"
#include "pixel/filter.h"

namespace penstock {

struct AdaptiveThreshold : ImageOperator {
  PerSample<int> block_size = 3;
  PerSample<float> offset = 0.0f, max_value = 255.0f;
  std::string method = "mean", mode = "binary";

  static Schema<AdaptiveThreshold> schema() {
    using Op = AdaptiveThreshold;
    return Schema<Op>("adaptive_threshold",
                      "Tells which elements are larger than the mean around them less an offset.\n\nThe mean of a "
                      "square around each element, of one channel, is rounded to an integer; the border repeats the "
                      "edge. An offset that is not whole is rounded up, with \"binary_inv\" down, as in OpenCV's "
                      "adaptiveThreshold. With \"gaussian\" a mean that is next to the middle between two integers "
                      "may be rounded to the other one than OpenCV's, whose sums have another order. Layouts: HW, "
                      "HWC, CHW, each also with a leading F; the output keeps the layout. Types: uint8.\n\n"
                      "Example:\n"
                      ">>> fn.adaptive_threshold(np.uint8([[10, 10, 40, 10, 10]]), block_size=3).tolist()\n"
                      "[[0, 0, 255, 0, 0]]")
        .arg("block_size", &Op::block_size, "Height and width of the square: odd, from 3 to 255.", within(3, 255))
        .arg("offset", &Op::offset, "Subtracted from the mean; OpenCV calls it C.", within(-1000, 1000))
        .arg("max_value", &Op::max_value,
             "What elements become that are larger, with \"binary_inv\" the others; all else becomes 0.")
        .arg("method", &Op::method,
             "\"mean\": all elements of the square count alike; \"gaussian\": by a Gaussian with the deviation "
             "((block_size - 1) / 2 - 1) * 0.3 + 0.8, up to 7 elements by fixed weights of small fractions.")
        .arg("mode", &Op::mode, "\"binary\" or \"binary_inv\".")
        .keeps_positions()
        .oracle("opencv");
  }
  void ready() override {
    inverse_ = threshold_mode(mode, 2) == 1;
    if (method != "mean" && method != "gaussian")
      bad_argument("method must be \"mean\" or \"gaussian\", got \"{}\"", method);
  }
  void check(std::span<const ValueType> in) override { check_bytes(in[0]); }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int64_t n = in[0].volume();
    if (n == 0) return;
    const int side = block_size[s.index];
    if (side % 2 == 0) bad_argument("block_size must be odd, got {}", side);
    AdaptiveRule::Coef c{{1, 1, 1, n, 1}, nullptr, 1, 0, 0, 0, {}};
    c.delta = static_cast<int32_t>(inverse_ ? std::floor(offset[s.index]) : std::ceil(offset[s.index]));
    (inverse_ ? c.below : c.above) = stored<uint8_t>(max_value[s.index]);
    if (to.at_once()) return run_on_host(in[0], out[0], side, c, to);
    const bool mean = method == "mean";
    const ImageRule::Extents e = image_extents(in[0].shape, in[0].layout);
    auto* const rows = static_cast<float*>(to.scratch(static_cast<size_t>(2 * n) * sizeof(float)));
    const auto table = image_table(mean ? std::vector<float>(static_cast<size_t>(side), 1.0f) : weights(side));
    TeamCall call{.in = {in[0].data}, .out = {rows}, .type = DType::uint8, .units = n, .table = table};
    run_team<SlideRule>(call, {e.width, e.inner, side}, to);
    to.then();
    call.in = {rows}, call.out = {rows + n}, call.type = DType::float32;
    run_team<SlideRule>(call, {e.height, e.width * e.inner, side}, to);
    c.around = rows + n, c.count = mean ? static_cast<int64_t>(side) * side : 1;
    map_image<AdaptiveRule>(in[0], out[0], c, to);
  }

 private:
  static std::vector<float> weights(int side) {
    if (side == 3) return {0.25f, 0.5f, 0.25f};
    if (side == 5) return {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    if (side == 7) return {0.03125f, 0.109375f, 0.21875f, 0.28125f, 0.21875f, 0.109375f, 0.03125f};
    std::vector<float> w;
    add_gaussian_window(0, side, w);
    return w;
  }
  void run_on_host(const View& in, const View& out, int side, const AdaptiveRule::Coef& c, SampleWork& to) const {
    const auto n = static_cast<size_t>(in.volume());
    const ImageRule::Extents e = image_extents(in.shape, in.layout);
    View around = in;
    around.data = to.scratch(method == "mean" ? n : 2 * n * sizeof(float));
    const auto compare = [&]<class T>(const T* means) {
      AdaptiveRule::run(in.as<const uint8_t>(), means, out.as<uint8_t>(), in.volume(), c);
    };
    if (method == "mean") {
      window::box_window(in, around, {e, side, side, side / 2, side / 2, kBorderClamp}, to);
      return compare(around.as<const uint8_t>());
    }
    around.dtype = DType::float32;
    View rows = around;
    rows.data = around.as<float>() + n;
    CorrelationRule::Coef pass{};
    pass.in = pass.out = e, pass.border = kBorderClamp;
    const ImageTable table = image_table(weights(side));
    for (const int axis : {2, 1}) {
      for (int k = 0; k < 3; ++k) pass.window[k] = k == axis ? side : 1, pass.anchor[k] = pass.window[k] / 2;
      correlate(axis == 2 ? in : rows, axis == 2 ? rows : around, pass, to, table);
    }
    compare(around.as<const float>());
  }
  bool inverse_ = false;
};
PENSTOCK_OPERATOR(AdaptiveThreshold);

}  // namespace penstock
