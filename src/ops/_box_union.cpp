// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/box_rows.h"

namespace penstock {

struct BoxUnion : WholeOperator {
  std::string bbox_layout = "ltrb";

  static Schema<BoxUnion> schema() {
    return Schema<BoxUnion>(
               "_box_union",
               "Finds the box around all boxes of a sample.\n\nInput: float32 boxes (N, 4). Outputs: left, "
               "top, right, bottom in the unit of the boxes, float32; and their number, int32. Without "
               "boxes all four are 0.")
        .arg("bbox_layout", &BoxUnion::bbox_layout, "Meaning of the numbers of a box, as that of transform_boxes.")
        .outputs(2)
        .input_names({"boxes"})
        .read_on_host({"boxes"})
        .hidden()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_box_type(in[0]);
    out[0] = {DType::float32, 1, {}};
    out[1] = {DType::int32, 0, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    check_box_shape(in[0], 4);
    out[0] = {4}, out[1] = {};
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const BoxLayout layout(bbox_layout);
    if (layout.dims() != 2) bad_argument("boxes of 4 numbers are needed, got the layout '{}'", bbox_layout);
    const std::vector<BoxExtent> boxes = read_boxes(in[0], layout);
    BoxExtent all = boxes.empty() ? BoxExtent{} : boxes[0];
    for (const BoxExtent& b : boxes)
      for (size_t a = 0; a < 2; ++a)
        all.low[a] = std::min(all.low[a], b.low[a]), all.high[a] = std::max(all.high[a], b.high[a]);
    const std::vector<double> exact{all.low[0], all.low[1], all.high[0], all.high[1]};
    give_numbers(out[0], std::vector<float>(exact.begin(), exact.end()), to);
    give_numbers(out[1], std::vector<int32_t>{static_cast<int32_t>(boxes.size())}, to);
  }
};
PENSTOCK_OPERATOR(BoxUnion);

}  // namespace penstock
