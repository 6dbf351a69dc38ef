// SPDX-License-Identifier: Apache-2.0
#include "families/table/bins.h"

namespace penstock {

struct Histogram : WholeOperator {
  int num_bins = 256;
  std::vector<float> range;

  static Schema<Histogram> schema() {
    using Op = Histogram;
    return Schema<Op>("histogram",
                      "Counts the elements of each channel by bins of equal width.\n\nBin k holds the elements v with "
                      "floor((v - low) * num_bins / (high - low)) = k, computed in float32. Elements below low, from "
                      "high on, and NaN are in no bin, as in OpenCV's calcHist. The result is int32 of shape "
                      "(channels, num_bins), for images without channels (num_bins,); frames come first. Layouts: HW, "
                      "HWC, CHW, each also with a leading F. Types: uint8, uint16, int16, float32.\n\n"
                      "Example:\n"
                      ">>> image = penstock.tensor(np.uint8([[0, 1, 200]]), layout=\"HW\")\n"
                      ">>> fn.histogram(image, num_bins=2).numpy().tolist()\n"
                      "[2, 1]")
        .arg("num_bins", &Op::num_bins, "Number of bins.", within(1, 65536))
        .arg("range", &Op::range, "Low, and high, which is outside; default: 0 and 256, for uint8 alone.")
        .oracle("opencv");
  }
  void ready() override {
    if (!range.empty() && (range.size() != 2 || !(range[0] < range[1]) || !std::isfinite(range[1] - range[0])))
      bad_argument("range must be two finite numbers, the lower one first");
  }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const DType type = in[0].dtype;
    if (type != DType::none && type != DType::uint8 && type != DType::uint16 && type != DType::int16 &&
        type != DType::float32)
      bad_type("expected uint8, uint16, int16 or float32, got {}", name_of(type));
    if (range.empty() && type != DType::none && type != DType::uint8)
      bad_argument("range is required for {}", name_of(type));
    check_image(in[0]);
    out[0] = in[0];
    out[0].dtype = DType::int32, out[0].layout = {};
    if (in[0].ndim >= 0) out[0].ndim = in[0].ndim - 1;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    const Layout layout = check_image(types[0]);
    Shape made;
    for (int d = 0; d < in[0].size(); ++d)
      if (layout[d] != 'H' && layout[d] != 'W') made.push_back(in[0][d]);
    made.push_back(num_bins);
    out[0] = made;
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const float low = range.empty() ? 0.0f : range[0], high = range.empty() ? 256.0f : range[1];
    const auto scale = static_cast<float>(num_bins / (static_cast<double>(high) - low));
    table::count_bins(in[0], out[0], {low, high, scale, num_bins}, to);
  }
};
PENSTOCK_OPERATOR(Histogram);

}  // namespace penstock
