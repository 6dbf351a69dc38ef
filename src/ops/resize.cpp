// SPDX-License-Identifier: Apache-2.0
#include "operator/forms.h"
#include "operator/named_numbers.h"
#include "ops/shared/resize_arguments.h"

namespace penstock {

struct Resize : ResampleOperator, WholeResizeArguments {
  static Schema<Resize> schema() {
    return Schema<Resize>(
               "resize",
               "Resizes images and volumes.\n\nThe filters are separable, over the axes D, H and W; weights are "
               "computed in float64, sums in float32. Samples outside the input repeat its edge, or have no weight. A "
               "region limits the position of the result, not what the filter reads. Layouts: any with H and W; the "
               "output keeps the layout. Types: all. Cubic: Keys 1981 (a = -0.5).\n\n"
               "With compat=\"opencv\", linear, cubic, LANCZOS4 and area give the bytes of cv2.resize, where "
               "OpenCV's own code computes them (cv2.ipp.setUseIPP(False)): IPP rounds cubic bytes of 1, 3 "
               "or 4 channels otherwise (4 % differ by 1), and linear and cubic sums of other types. Values "
               "of other types are OpenCV's, too, but for rounding where it makes means of whole pixels of "
               "them, other than four of 16 bits. linear_exact gives the values of INTER_LINEAR_EXACT, of "
               "uint8, uint16 and int16, and of floats those of linear. dtype converts these values. Such a "
               "resize takes images, no volumes, and joins no stage. If weights, min_filter, mag_filter or a "
               "filter for each sample is given, sums are in float32 instead: bytes differ by at most 1, for "
               "linear 12 % of bytes of noise, from IPP's cubic 1 of 100,000. Nearest always gives OpenCV's "
               "values, area without compat its bytes where it makes means of whole pixels and their number "
               "is odd or a power of two.\n\n"
               "Example:\n"
               ">>> image = np.zeros((480, 640, 3), np.uint8)\n"
               ">>> small = fn.resize(image, size=[240, 320], interp_type=\"area\", compat=\"opencv\")")
        .with(&whole_resize_arguments<Resize>)
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

namespace {

std::string choose_resize(const OpInfo& info, size_t, std::span<const Argument> args) {
  bool opencv = false;
  for (size_t k = 0; k < args.size(); ++k) {
    if (!args[k].given()) continue;
    const std::string& name = info.args[k].name;
    if (name == "weights" || name == "min_filter" || name == "mag_filter") return info.name;
    if (name == "compat") opencv = value_as<std::string>(args[k].value) == "opencv";
    if (name != "interp_type") continue;
    if (args[k].batch) return info.name;
    const auto filter = value_as<int64_t>(without_name(info.args[k], args[k].value));
    const bool own = (filter >= 1 && filter <= 3) || filter == 8 || filter == kLinearExact;
    if (!own) return info.name;  // linear, cubic, lanczos3, area, linear_exact
  }
  return opencv ? info.name + "@opencv" : info.name;
}
[[maybe_unused]] const bool resize_has_forms = add_forms("resize", &choose_resize);

}  // namespace

}  // namespace penstock
