// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/frames.h"

namespace penstock {

struct ElementExtract : WholeOperator {
  std::vector<int64_t> element_map;

  static Schema<ElementExtract> schema() {
    return Schema<ElementExtract>(
               "element_extract",
               "Returns selected frames of a sequence, each as an output of its own.\n\nOutput k is frame "
               "element_map[k]. Layouts: none, or any that starts with F; the outputs have no F. Types: all.\n\n"
               "Example:\n"
               ">>> first, last = fn.element_extract(np.zeros((8, 48, 64, 3), np.uint8), element_map=[0, 7])\n"
               ">>> first.shape\n"
               "(48, 64, 3)")
        .required("element_map", &ElementExtract::element_map, "Numbers of frames, one for each output.")
        .takes_bfloat16()
        .oracle("dali");
  }
  int count_outputs() const override { return static_cast<int>(element_map.size()); }
  void ready() override {
    if (element_map.empty()) bad_argument("element_map must name at least one frame");
    for (int64_t k : element_map)
      if (k < 0) bad_argument("element_map must not hold negative numbers, got {}", k);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_sequence(in[0]);
    ValueType frame = in[0];
    if (frame.ndim > 0) --frame.ndim;
    frame.layout = without_first(frame.layout);
    for (ValueType& t : out) t = frame;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    for (size_t k = 0; k < out.size(); ++k) {
      if (in[0][0] >= 0) check_frame(element_map[k], in[0][0], "element_map");
      out[k] = without_first(in[0]);
    }
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    for (size_t k = 0; k < out.size(); ++k) to.copy(entry(in[0], element_map[k]), out[k]);
  }
};
PENSTOCK_OPERATOR(ElementExtract);

}  // namespace penstock
