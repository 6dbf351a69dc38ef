// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/letterbox.h"

namespace penstock {

struct LetterboxPlacement : WholeOperator, LetterboxArguments {
  static Schema<LetterboxPlacement> schema() {
    using Op = LetterboxPlacement;
    return Schema<Op>(
               "letterbox_placement",
               "Tells where letterbox puts images of these sizes, with the same arguments.\n\nInput: the extents of "
               "the "
               "image, height and width first, integers or float32, as letterbox's save_attrs gives them, or "
               "peek_image_shape. Output: float32 (5): the scale, the border at the left, the border above, and the "
               "width and the height of the image. A position x of the image is at x * scale + left.\n\n"
               "Example:\n"
               ">>> fn.letterbox_placement(np.int32([48, 64]), size=96).tolist()\n"
               "[1.5, 0.0, 12.0, 64.0, 48.0]")
        .with(&letterbox_arguments<Op>)
        .input_names({"extents"})
        .float64("a size is rounded as letterbox rounds it")
        .oracle("numpy");
  }
  void ready() override { check_letterbox(); }
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype == DType::bool_) bad_type("expected extents as numbers, got bool");
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override { out[0] = {DType::float32, 1, {}}; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    if (in[0].size() != 1 || (in[0][0] >= 0 && in[0][0] < 2))
      bad_argument("expected one dimension with the height and the width first, got the shape {}", in[0].text());
    out[0] = {kLetterboxNumbers};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const LetterboxRule::Coef coef{{1, 1, 1, kLetterboxNumbers, 1}, frame(s.index)};
    const auto host = [coef, from = in[0], into = out[0]] {
      dispatch(from.dtype, [&]<class T>(TypeTag<T>) {
        run_image_rule<LetterboxRule>(from.as<const T>(), into.as<float>(), coef, nullptr);
      });
    };
    to.map(in[0], out[0], {&image_rule_text<LetterboxRule>, coef_bytes_of(coef), nullptr, nullptr, host});
  }
};
PENSTOCK_OPERATOR(LetterboxPlacement);

}  // namespace penstock
