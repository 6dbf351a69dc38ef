// SPDX-License-Identifier: Apache-2.0
#include "operator/operator.h"

namespace penstock {

struct MarkFrames : WholeOperator {
  bool replace = false;

  static Schema<MarkFrames> schema() {
    return Schema<MarkFrames>(
               "per_frame",
               "Marks the first dimension as frames.\n\n"
               "As an argument, the values then belong to the frames of a sequence. Layouts: none, which becomes F "
               "followed by a * for each further dimension; or one that starts with F. Types: all.\n\n"
               "Example:\n"
               ">>> angles = fn.per_frame(penstock.batch([np.float32([0.0, 10.0, 20.0])]))\n"
               ">>> video = penstock.batch([np.zeros((3, 48, 64, 3), np.uint8)], layout=\"FHWC\")\n"
               ">>> result = fn.rotate(video, angle=angles, keep_size=True)")
        .arg("replace", &MarkFrames::replace, "Replace the first letter of the layout by F.")
        .takes_bfloat16()
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (in[0].ndim == 0) bad_argument("a sample without dimensions has no frames");
    std::string letters = in[0].layout.str();
    if (letters.empty()) {
      if (in[0].ndim > 0) letters = "F" + std::string(in[0].ndim - 1, '*');
    } else if (letters[0] != 'F') {
      if (!replace)
        bad_argument("the layout '{}' does not start with F; replace=True changes its first letter", letters);
      letters[0] = 'F';
    }
    out[0].layout = letters;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    to.copy(in[0], out[0]);
  }
};
PENSTOCK_OPERATOR(MarkFrames);

}  // namespace penstock
