// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/box_rows.h"
#include "ops/shared/point_matrix.h"

namespace penstock {

struct TransformBoxes : WholeOperator {
  PerSample<std::vector<double>> matrix;
  PerSample<std::vector<int64_t>> input_shape, output_shape;
  std::string bbox_layout = "ltrb", shape_layout = "HW";
  bool bbox_normalized = false, clip = true;
  float min_area = 0.0f, min_visibility = 0.0f;

  static Schema<TransformBoxes> schema() {
    using Op = TransformBoxes;
    return Schema<Op>(
               "transform_boxes",
               "Moves boxes by an affine or perspective map, and drops those that leave the image.\n\nInput: float32 "
               "boxes (N, 4), or (N, 6) in volumes. Outputs: the upright boxes around the corners that were moved, cut "
               "to the new image; and the rows of the input that they were, int32. A box of which nothing is left is "
               "dropped, and so is one with a corner beyond the horizon of a perspective map.\n\nExample:\n>>> boxes = "
               "np.float32([[1.0, 2.0, 5.0, 6.0]])\n>>> twice = [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0]\n>>> "
               "boxes, rows = fn.transform_boxes(boxes, matrix=twice, output_shape=[48, 64])\n>>> boxes.tolist(), "
               "rows.tolist()\n([[2.0, 4.0, 10.0, 12.0]], [0])")
        .arg("matrix", &Op::matrix,
             "3 rows of 3 numbers for columns (x, y, 1), or 4 rows of 4 for (x, y, z, 1), row by row. Positions are in "
             "pixels; (0, 0) is the outer corner of the first one. May be given as a second input.")
        .arg("input_shape", &Op::input_shape, "Extents of the image before; boxes in fractions of it need them.")
        .required("output_shape", &Op::output_shape, "Extents of the image after.")
        .arg("shape_layout", &Op::shape_layout,
             "Meaning of the numbers of both shapes; those after the axes of the image may be omitted.")
        .arg("bbox_layout", &Op::bbox_layout, "Meaning of the numbers of a box: ltrb, xywh, cxcywh, or letters.")
        .arg("bbox_normalized", &Op::bbox_normalized,
             "True: boxes are in fractions of the image before, and then of that after. False: in pixels.")
        .arg("clip", &Op::clip, "Cut boxes to the image. False: only boxes outside it are dropped.")
        .arg("min_area", &Op::min_area, "Drops boxes whose area in the image, in pixels, is less.", at_least(0))
        .arg("min_visibility", &Op::min_visibility,
             "Drops boxes if less than this fraction of their area is in the image.", within(0, 1))
        .argument_inputs({"matrix"})
        .outputs(2)
        .input_names({"boxes"})
        .read_on_host({"boxes"})
        .batch_wide()
        .oracle("numpy");
  }
  void ready() override {
    if (!matrix.given()) bad_argument("the argument 'matrix' is required");
    if (bbox_normalized && !input_shape.given()) bad_argument("boxes in fractions of an image need its input_shape");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_box_type(in[0]);
    out[0] = {DType::float32, 2, in[0].layout};
    out[1] = {DType::int32, 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    const BoxLayout layout(bbox_layout);
    check_box_shape(in[0], 2 * layout.dims());
    const auto* values = static_cast<const std::span<const Batch>*>(s.batch_state);
    const int64_t stay = values ? static_cast<int64_t>(moved((*values)[0].view(s.index), s.index).rows.size()) : -1;
    out[0] = {stay, 2 * layout.dims()}, out[1] = {stay};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const Moved m = moved(in[0], s.index);
    give_numbers(out[0], rows_of(m.boxes, BoxLayout(bbox_layout)), to);
    give_numbers(out[1], m.rows, to);
  }

 private:
  struct Moved {
    std::vector<BoxExtent> boxes;
    std::vector<int32_t> rows;  // of the input
  };
  Moved moved(const View& in, int sample) const {
    const PointMap map = point_matrix(matrix[sample]);
    const BoxLayout layout(bbox_layout);
    if (layout.dims() != map.dims)
      bad_argument("boxes of {} numbers cannot be moved by a matrix for {}", 2 * layout.dims(), map.dims);
    double before[3], after[3], units[3] = {1, 1, 1};
    image_extents_of(output_shape, "output_shape", map.dims, sample, after);
    if (input_shape.given()) image_extents_of(input_shape, "input_shape", map.dims, sample, before);
    if (bbox_normalized) std::copy_n(before, 3, units);
    BoxExtent canvas;
    for (int a = 0; a < map.dims; ++a) canvas.high[a] = after[a];
    Moved out;
    const std::vector<BoxExtent> boxes = read_boxes(in, layout);
    for (size_t i = 0; i < boxes.size(); ++i) {
      if (input_shape.given())
        check_box(boxes[i], layout, bbox_normalized ? nullptr : before, static_cast<int64_t>(i), sample);
      BoxExtent whole;
      if (!around_corners(map, boxes[i], units, whole)) continue;
      const BoxExtent left = common_part(whole, canvas);
      const double area = volume_of(left, map.dims);
      if (!(area > 0) || area < static_cast<double>(min_area) ||
          area < static_cast<double>(min_visibility) * volume_of(whole, map.dims))
        continue;
      BoxExtent& b = out.boxes.emplace_back(clip ? left : whole);
      for (int a = 0; a < map.dims && bbox_normalized; ++a) b.low[a] /= after[a], b.high[a] /= after[a];
      out.rows.push_back(static_cast<int32_t>(i));
    }
    return out;
  }
  // False: a corner lies beyond the horizon.
  static bool around_corners(const PointMap& map, const BoxExtent& box, const double* units, BoxExtent& to) {
    const int n = map.dims;
    to.low.fill(INFINITY), to.high.fill(-INFINITY);
    for (int corner = 0; corner < 1 << n; ++corner) {
      double sums[4];
      for (int r = 0; r <= n; ++r) {
        sums[r] = map.m[r * (n + 1) + n];
        for (int a = 0; a < n; ++a)
          sums[r] += map.m[r * (n + 1) + a] * ((corner >> a & 1) ? box.high[a] : box.low[a]) * units[a];
      }
      if (!(sums[n] > 0)) return false;
      for (int a = 0; a < n; ++a) {
        to.low[a] = std::min(to.low[a], sums[a] / sums[n]);
        to.high[a] = std::max(to.high[a], sums[a] / sums[n]);
      }
    }
    return true;
  }
  // Along x, y[, z].
  void image_extents_of(const PerSample<std::vector<int64_t>>& shape, const char* argument, int dims, int sample,
                        double* to) const {
    const std::vector<int64_t> extents = shape[sample];
    for (int a = 0; a < dims; ++a) {
      const size_t at = shape_layout.find("WHD"[a]);
      if (at == std::string::npos) bad_argument("shape_layout needs '{}', got '{}'", "WHD"[a], shape_layout);
      if (at >= extents.size())
        bad_argument("{} has {} numbers, but the layout is '{}'", argument, extents.size(), shape_layout);
      to[a] = static_cast<double>(extents[at]);
    }
  }
};
PENSTOCK_OPERATOR(TransformBoxes);

}  // namespace penstock
