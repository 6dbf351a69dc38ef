// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/box_rows.h"
#include "ops/shared/rotated_canvas.h"

namespace penstock {

struct BboxRotate : WholeOperator, BoxLabels {
  PerSample<float> angle;
  PerSample<std::vector<int64_t>> input_shape;
  std::string bbox_layout = "xyXY", shape_layout = "HW", mode = "expand";
  bool bbox_normalized = true, keep_size = false;
  float remove_threshold = 0.1f;
  PerSample<std::vector<float>> size;

  static Schema<BboxRotate> schema() {
    using Op = BboxRotate;
    return Schema<Op>(
               "bbox_rotate",
               "Rotates boxes as rotate rotates their image.\n\nInputs: float32 boxes, (N, 4), and optionally int32 "
               "labels. Outputs: the upright boxes around the rotated ones, cut to the canvas; then the labels of the "
               "boxes that remain. remove_threshold says which boxes are removed.\n\n"
               "Example:\n"
               ">>> boxes = np.float32([[0.25, 0.25, 0.75, 0.75]])\n"
               ">>> fn.bbox_rotate(boxes, angle=90.0, input_shape=[64, 64]).tolist()\n"
               "[[0.25, 0.25, 0.75, 0.75]]")
        .required("angle", &Op::angle, "Angle in degrees, counter-clockwise.")
        .required("input_shape", &Op::input_shape, "Extents of the image before the rotation.")
        .arg("labels", &Op::labels, BoxLabels::kLabels)
        .arg("bbox_layout", &Op::bbox_layout, "Meaning of the numbers of a box: ltrb (xyXY), xywh (xyWH) or cxcywh.")
        .arg("bbox_normalized", &Op::bbox_normalized,
             "True: boxes are in fractions of the image and of the canvas. False: in pixels.")
        .arg("keep_size", &Op::keep_size, "The canvas keeps the extents of the image.")
        .arg("mode", &Op::mode,
             "Size of a box. expand: the box around the rotated one. fixed: the extents before the rotation, around "
             "the same center; beyond 45 degrees width and height are swapped. halfway: the mean of the two.")
        .arg("remove_threshold", &Op::remove_threshold,
             "Removes boxes if less than this fraction of their area is on the canvas; 0 removes none.", within(0, 1))
        .arg("shape_layout", &Op::shape_layout,
             "Meaning of the numbers of input_shape; those after H and W may be omitted.")
        .arg("size", &Op::size, "(height, width) of the canvas, as given to rotate.")
        .argument_inputs({"labels"})
        .input_names({"boxes"})
        .read_on_host({"boxes"})
        .batch_wide()
        .oracle("dali");
  }
  int count_outputs() const override { return 1 + labels.given(); }
  void ready() override {
    if (BoxLayout(bbox_layout).dims() != 2)
      bad_argument("bbox_layout must be ltrb, xywh or cxcywh, got '{}'", bbox_layout);
    if (mode != "expand" && mode != "fixed" && mode != "halfway")
      bad_argument("mode must be expand, fixed or halfway, got '{}'", mode);
    if (shape_layout.find('H') == std::string::npos || shape_layout.find('W') == std::string::npos)
      bad_argument("shape_layout needs H and W, got '{}'", shape_layout);
    if (keep_size && size.given()) bad_argument("keep_size and size are mutually exclusive");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_box_type(in[0]);
    out[0] = {DType::float32, 2, in[0].layout};
    if (labels.given()) out[1] = label_type();
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    check_box_shape(in[0], 4);
    const auto* values = static_cast<const std::span<const Batch>*>(s.batch_state);
    const int64_t stay = values ? static_cast<int64_t>(rotated((*values)[0].view(s.index), s.index).rows.size()) : -1;
    out[0] = {stay, 4};
    if (labels.given())
      out[1] = values ? label_shape(s.index, stay) : Shape::filled(label_type().ndim < 0 ? 1 : label_type().ndim, -1);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const Rotated r = rotated(in[0], s.index);
    give_numbers(out[0], rows_of(r.boxes, BoxLayout(bbox_layout)), to);
    if (labels.given()) give_numbers(out[1], labels_of(s.index, in[0].shape[0], r.rows), to);
  }

 private:
  struct Rotated {
    std::vector<BoxExtent> boxes;
    std::vector<int64_t> rows;  // of the input
  };
  Rotated rotated(const View& in, int sample) const {
    int64_t image[2], canvas[2];
    extents(sample, image, canvas);
    const Turn turn = exact_turn(angle[sample]);
    const double units[2] = {bbox_normalized ? static_cast<double>(image[0]) : 1,
                             bbox_normalized ? static_cast<double>(image[1]) : 1};
    const BoxExtent whole{{0, 0, 0}, {static_cast<double>(canvas[0]), static_cast<double>(canvas[1]), 0}};
    const bool lies = std::fabs(turn.sin) > std::fabs(turn.cos);  // swap width and height
    Rotated out;
    const BoxLayout layout(bbox_layout);
    const double pixels[2] = {static_cast<double>(image[0]), static_cast<double>(image[1])};
    const std::vector<BoxExtent> boxes = read_boxes(in, layout);
    for (size_t i = 0; i < boxes.size(); ++i) {
      check_box(boxes[i], layout, bbox_normalized ? nullptr : pixels, static_cast<int64_t>(i), sample);
      double middle[2], half[2];
      for (int a = 0; a < 2; ++a) {
        middle[a] = (boxes[i].low[a] + boxes[i].high[a]) / 2 * units[a] - static_cast<double>(image[a]) / 2;
        half[a] = (boxes[i].high[a] - boxes[i].low[a]) / 2 * units[a];
      }
      const double center[2] = {turn.cos * middle[0] + turn.sin * middle[1],
                                turn.cos * middle[1] - turn.sin * middle[0]};
      BoxExtent b;
      for (int a = 0; a < 2; ++a) {
        const double around = std::fabs(turn.cos) * half[a] + std::fabs(turn.sin) * half[1 - a],
                     own = half[lies ? 1 - a : a];
        const double reach = mode == "expand" ? around : mode == "fixed" ? own : (around + own) / 2;
        const double at = center[a] + static_cast<double>(canvas[a]) / 2;
        b.low[a] = at - reach, b.high[a] = at + reach;
      }
      const double left = volume_of(common_part(b, whole), 2);
      if (remove_threshold > 0 && left < static_cast<double>(remove_threshold) * volume_of(b, 2)) continue;
      for (int a = 0; a < 2; ++a) {
        const double unit = bbox_normalized ? static_cast<double>(canvas[a]) : 1;
        b.low[a] = std::clamp(b.low[a], 0.0, whole.high[a]) / unit,
        b.high[a] = std::clamp(b.high[a], 0.0, whole.high[a]) / unit;
      }
      out.boxes.push_back(b);
      out.rows.push_back(static_cast<int64_t>(i));
    }
    return out;
  }
  // x, y of the image and of the canvas.
  void extents(int sample, int64_t* image, int64_t* canvas) const {
    image_pixels(input_shape, shape_layout, sample, image);
    for (int a = 0; a < 2; ++a) canvas[a] = image[a];
    const Turn turn = canvas_turn(angle[sample]);
    const double c = std::fabs(turn.cos), s = std::fabs(turn.sin), reach[4] = {c, s, s, c};
    if (size.given()) {
      const std::vector<float> given = size[sample];
      if (given.size() != 2) bad_argument("size must be (height, width), got {} values", given.size());
      for (int a = 0; a < 2; ++a) {
        if (!(given[1 - a] > 0 && given[1 - a] < 0x1p31f)) bad_argument("size must be positive, got {}", given[1 - a]);
        canvas[a] = std::max<int64_t>(1, std::llround(given[1 - a]));
      }
    } else if (!keep_size) {
      for (int a = 0; a < 2; ++a) canvas[a] = rotated_extent(a, 2, image, reach);
    }
  }
};
PENSTOCK_OPERATOR(BboxRotate);

}  // namespace penstock
