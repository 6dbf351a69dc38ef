// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/box_rows.h"
#include "ops/shared/inverse_field.h"

namespace penstock {

struct DisplaceBoxes : WholeOperator {
  std::string bbox_layout = "ltrb";
  bool bbox_normalized = false;
  float min_area = 0.0f, min_visibility = 0.0f;

  static Schema<DisplaceBoxes> schema() {
    using Op = DisplaceBoxes;
    return Schema<Op>("_displace_boxes",
                      "Moves boxes as a field of displacements moves the pixels, and drops those that leave the "
                      "image.\n\nInputs: float32 boxes (N, 4); the field (2, height, width), as _displace_points takes "
                      "it. Outputs: the upright boxes around the borders that were moved, cut to the image; and the "
                      "rows of the input that they were, int32. Borders are moved at points at most 4 pixels apart, "
                      "and at most 256 a side.")
        .arg("bbox_layout", &Op::bbox_layout, "Meaning of the numbers of a box, as that of transform_boxes.")
        .arg("bbox_normalized", &Op::bbox_normalized, "True: in fractions of the image. False: in pixels.")
        .arg("min_area", &Op::min_area, "Drops boxes whose area in the image, in pixels, is less.", at_least(0))
        .arg("min_visibility", &Op::min_visibility,
             "Drops boxes if less than this fraction of their area is in the image.", within(0, 1))
        .inputs(2)
        .outputs(2)
        .input_names({"boxes", "displacements"})
        .read_on_host({"boxes", "displacements"})
        .hidden()
        .batch_wide()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_box_type(in[0]);
    check_field_type(in[1]);
    out[0] = {DType::float32, 2, in[0].layout};
    out[1] = {DType::int32, 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    check_box_shape(in[0], 4);
    const auto* values = static_cast<const std::span<const Batch>*>(s.batch_state);
    int64_t stay = -1;
    if (values) {
      const DenseInputs in_here(*values, s.index);
      stay = static_cast<int64_t>(moved(in_here.views[0], in_here.views[1], s.index).rows.size());
    }
    out[0] = {stay, 4}, out[1] = {stay};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const Moved m = moved(in[0], in[1], s.index);
    give_numbers(out[0], rows_of(m.boxes, BoxLayout(bbox_layout)), to);
    give_numbers(out[1], m.rows, to);
  }

 private:
  static constexpr double kApart = 4;
  static constexpr int kMostParts = 256;
  struct Moved {
    std::vector<BoxExtent> boxes;
    std::vector<int32_t> rows;  // of the input
  };
  Moved moved(const View& in, const View& displacements, int sample) const {
    const BoxLayout layout(bbox_layout);
    if (layout.dims() != 2) bad_argument("displacements move boxes of 4 numbers, got the layout '{}'", bbox_layout);
    Moved out;
    const std::vector<BoxExtent> boxes = read_boxes(in, layout);
    if (boxes.empty()) return out;
    const InverseField field(displacements);
    const double extents[3] = {static_cast<double>(field.width()), static_cast<double>(field.height()), 1};
    BoxExtent canvas;
    for (size_t a = 0; a < 2; ++a) canvas.high[a] = extents[a];
    for (size_t i = 0; i < boxes.size(); ++i) {
      check_box(boxes[i], layout, bbox_normalized ? nullptr : extents, static_cast<int64_t>(i), sample);
      BoxExtent b = boxes[i];
      for (size_t a = 0; a < 2 && bbox_normalized; ++a) b.low[a] *= extents[a], b.high[a] *= extents[a];
      const BoxExtent whole = around_border(field, b), left = common_part(whole, canvas);
      const double area = volume_of(left, 2);
      if (!(area > 0) || area < static_cast<double>(min_area) ||
          area < static_cast<double>(min_visibility) * volume_of(whole, 2))
        continue;
      BoxExtent& made = out.boxes.emplace_back(left);
      for (size_t a = 0; a < 2 && bbox_normalized; ++a) made.low[a] /= extents[a], made.high[a] /= extents[a];
      out.rows.push_back(static_cast<int32_t>(i));
    }
    return out;
  }
  static BoxExtent around_border(const InverseField& field, const BoxExtent& box) {
    BoxExtent to;
    to.low.fill(INFINITY), to.high.fill(-INFINITY);
    for (size_t a = 0; a < 2; ++a) {  // both sides along the axis
      const double length = box.high[a] - box.low[a];
      const int parts = std::clamp(static_cast<int>(std::min(length, 1e6) / kApart) + 1, 1, kMostParts);
      for (int k = 0; k <= parts; ++k)
        for (const double other : {box.low[1 - a], box.high[1 - a]}) {
          InverseField::Point p;
          p[a] = box.low[a] + length * k / parts, p[1 - a] = other;
          const InverseField::Point q = field.moved(p);
          for (size_t d = 0; d < 2; ++d) to.low[d] = std::min(to.low[d], q[d]), to.high[d] = std::max(to.high[d], q[d]);
        }
    }
    return to;
  }
};
PENSTOCK_OPERATOR(DisplaceBoxes);

}  // namespace penstock
