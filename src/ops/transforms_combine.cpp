// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/affine_transform.h"

namespace penstock {

struct TransformsCombine : WholeOperator {
  bool reverse_order = false;

  static Schema<TransformsCombine> schema() {
    return Schema<TransformsCombine>(
               "transforms.combine",
               "Combines affine maps: returns the matrix that applies the maps of the inputs in turn.\n\nInputs: "
               "float32, n rows of n + 1 numbers, or one such matrix for each frame with a layout that starts with F; "
               "matrices without frames are used for all frames. Output: the same.\n\n"
               "Example:\n"
               ">>> turn, move = fn.transforms.rotation(angle=90.0), fn.transforms.translation(offset=[1.0, 2.0])\n"
               ">>> fn.transforms.combine(turn, move).shape\n"
               "(2, 3)")
        .inputs(2, 99)
        .arg("reverse_order", &TransformsCombine::reverse_order, "Apply the map of the last input first.")
        .float64(kAffineInFloat64)
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = {DType::float32, 2, {}};
    for (const ValueType& t : in) {
      check_affine_type(t);
      if (t.ndim == 3) out[0] = {DType::float32, 3, "F**"};
    }
    for (const ValueType& t : in)
      if (t.ndim < 0 && out[0].ndim == 2) out[0].ndim = -1;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
    for (const Shape& s : in) {
      if (!s.known() || !in[0].known()) continue;
      if (affine_dims(s) != affine_dims(in[0]))
        bad_argument("the matrices of the inputs have different dimensions {} and {}", affine_dims(in[0]),
                     affine_dims(s));
      if (s.size() == 3 && out[0].size() == 3 && s[0] != out[0][0])
        bad_argument("the inputs have different numbers of frames, {} and {}", out[0][0], s[0]);
      if (s.size() == 3) out[0] = s;
    }
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    std::vector<AffineLink> links;
    for (const View& v : in) links.push_back(link_of(v));
    if (reverse_order) std::reverse(links.begin(), links.end());
    apply_in_turn(links, {}, true, out[0], to);
  }
};
PENSTOCK_OPERATOR(TransformsCombine);

}  // namespace penstock
