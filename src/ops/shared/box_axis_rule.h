// SPDX-License-Identifier: Apache-2.0
// Operators that move all boxes of a sample in the same way: their arguments, and the part of their rules that refuses
// boxes.
#pragma once
#include <limits>

#include "ops/shared/axis_rule.h"
#include "ops/shared/box_rows.h"

namespace penstock {

// A rule on a GPU cannot raise an error: there a box outside its image becomes NaN.
struct BoxRule {
  PENSTOCK_TEXT(
      base_text,
      struct Boxes {
        int format;  // 0: ltrb, 1: xywh, 2: cxcywh
        double extent[2];
        double slack;
        double refused;
      };
      template <class Row> PENSTOCK_HD static bool outside(const Row& in, const Boxes& b) {
        for (int a = 0; a < 2; ++a) {
          const double low = b.format == 2 ? in[a] - in[a + 2] / 2 : in[a];
          const double high = b.format == 0 ? in[a + 2] : low + in[a + 2];
          if (!(low >= -b.slack * b.extent[a] && high <= (1 + b.slack) * b.extent[a] && high >= low)) return true;
        }
        return false;
      });
};

// Rows of four float32 numbers, in a sample of any shape.
struct BoxRows : WholeOperator {
  bool ltrb = false, bbox_normalized = true;
  std::string bbox_layout, shape_layout = "HW";
  PerSample<std::vector<int64_t>> input_shape;

  const BoxLayout& layout() const { return layout_; }
  void ready() override {
    layout_ = BoxLayout(!bbox_layout.empty() ? bbox_layout : ltrb ? "ltrb" : "xywh");
    const std::string& name = layout_.name();
    format_ = name == "ltrb" || name == "xyXY" ? 0 : name == "xywh" || name == "xyWH" ? 1 : name == "cxcywh" ? 2 : -1;
    if (format_ < 0) bad_argument("bbox_layout must be ltrb, xywh or cxcywh, got '{}'", bbox_layout);
    if (ltrb && format_ != 0) bad_argument("ltrb=True and bbox_layout='{}' contradict each other", bbox_layout);
    if (!bbox_normalized && !input_shape.given()) bad_argument("boxes in pixels need input_shape");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].dtype != DType::float32 && in[0].dtype != DType::none)
      bad_type("boxes must be float32, got {}", name_of(in[0].dtype));
    if (in[0].ndim == 0) bad_type("boxes must be rows of 4 numbers, got single numbers");
    out[0] = in[0];
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    const int64_t last = in[0][in[0].size() - 1];
    if (last >= 0 && last % 4 != 0) bad_argument("boxes must be rows of 4 numbers, got the shape {}", in[0].text());
    out[0] = in[0];
  }
  BoxRule::Boxes boxes(int sample) const {
    BoxRule::Boxes b{format_, {1, 1}, kBoxSlack, std::numeric_limits<double>::quiet_NaN()};
    if (!bbox_normalized) image_pixels(input_shape, shape_layout, sample, b.extent);
    return b;
  }
  template <class Rule>
  void move_boxes(const View& in, const View& out, const typename Rule::Coef& coef, int sample, SampleWork& to) const {
    const Shape rows{in.volume() / 4, 4};
    if (&to == &host_work()) {
      const auto* row = in.as<const float>();
      for (int64_t i = 0; i < rows[0]; ++i, row += 4)
        check_box(layout_.read(row), layout_, bbox_normalized ? nullptr : coef.boxes.extent, i, sample);
    }
    map_axis_by<Rule>(reshaped(in, rows), reshaped(out, rows), 1, std::as_bytes(std::span(&coef, 1)), to);
  }

 private:
  BoxLayout layout_{"xywh"};
  int format_ = 1;
};

template <class Op> Schema<Op>&& box_row_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("ltrb", &Op::ltrb, "True: boxes are (left, top, right, bottom). False: (x, y, width, height).")
      .arg("bbox_layout", &Op::bbox_layout,
           "Meaning of the numbers of a box: ltrb, xywh or cxcywh; default: what ltrb says.")
      .arg("bbox_normalized", &Op::bbox_normalized, "True: boxes are in fractions of the image. False: in pixels.")
      .arg("input_shape", &Op::input_shape, "Extents of the image, if boxes are in pixels.")
      .arg("shape_layout", &Op::shape_layout, "Meaning of the numbers of input_shape.");
}

}  // namespace penstock
