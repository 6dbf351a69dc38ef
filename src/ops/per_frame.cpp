// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/operator.h"

namespace penstock {

struct MarkFrames {
  bool replace = false;

  static Schema<MarkFrames> schema() {
    return Schema<MarkFrames>(
               "per_frame",
               "Marks the first dimension as frames: as an argument the values then belong to the frames "
               "of a sequence.\n\nLayouts: none, which becomes F followed by a * for each further "
               "dimension, or one that begins with F. Types: all.")
        .arg("replace", &MarkFrames::replace, "Replaces the first letter of another layout by F.")
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const {
    out[0] = in[0];
    if (in[0].ndim == 0) bad_argument("a sample without dimensions has no frames");
    std::string letters = in[0].layout.str();
    if (letters.empty()) {
      if (in[0].ndim > 0) letters = "F" + std::string(in[0].ndim - 1, '*');
    } else if (letters[0] != 'F') {
      if (!replace) bad_argument("the layout '{}' begins with no F; replace=True makes it one", letters);
      letters[0] = 'F';
    }
    out[0].layout = letters;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>, std::span<Shape> out) const {
    out[0] = in[0];
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const {
    to.copy(in[0], out[0]);
  }
};
PENSTOCK_OPERATOR(MarkFrames);

}  // namespace penstock
