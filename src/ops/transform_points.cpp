// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/axis_rule.h"
#include "ops/shared/point_matrix.h"

namespace penstock {

// The first `dims` numbers of a row are moved; those after them stay.
struct PointRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t dims;
        double m[16];
      };
      template <class Row> PENSTOCK_HD static double sum(const Row& in, int64_t j, const Coef& c) {
        const double* row = c.m + j * (c.dims + 1);
        double s = row[c.dims];
        for (int64_t k = 0; k < c.dims; ++k) s = s + row[k] * in[k];
        return s;
      } template <class Row> PENSTOCK_HD static double number(const Row& in, int64_t j, const Coef& c) {
        if (j >= c.dims) return in[j];
        return sum(in, j, c) / sum(in, c.dims, c);
      });
};

struct TransformPoints : WholeOperator {
  PerSample<std::vector<double>> matrix;

  static Schema<TransformPoints> schema() {
    using Op = TransformPoints;
    return Schema<Op>("transform_points",
                      "Moves points by an affine or perspective map.\n\nInput: points (N, n) of n numbers, x, y or x, "
                      "y, z first; numbers after these, such as a visibility, stay as they are. Output: the same "
                      "shape. The sums are in float64. Layouts: any; the output keeps it. Types: all; integers are "
                      "rounded half to even and saturated.\n\nExample:\n>>> fn.transform_points(np.float32([[1.0, "
                      "2.0]]), matrix=[2.0, 0.0, 5.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0]).tolist()\n[[7.0, 4.0]]")
        .arg("matrix", &Op::matrix,
             "3 rows of 3 numbers for columns (x, y, 1), or 4 rows of 4 for (x, y, z, 1), row by row. May be given as "
             "a second input.")
        .argument_inputs({"matrix"})
        .float64("the few numbers of a point, so that each sum is rounded once")
        .oracle("numpy");
  }
  void ready() override {
    if (!matrix.given()) bad_argument("the argument 'matrix' is required");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].ndim == 0) bad_type("points must have at least one dimension");
    out[0] = in[0];
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const PointMap map = point_matrix(matrix[s.index]);
    const int last = in[0].shape.size() - 1;
    if (in[0].shape[last] < map.dims)
      bad_argument("points of {} numbers cannot be moved by a matrix for {}", in[0].shape[last], map.dims);
    PointRule::Coef c{map.dims, {}};
    std::copy_n(map.m, 16, c.m);
    map_axis_by<PointRule>(in[0], out[0], last, std::as_bytes(std::span(&c, 1)), to);
  }
};
PENSTOCK_OPERATOR(TransformPoints);

// What keypoints of a body need after a map has moved them, and other points do not.
struct KeypointsAfterMove : WholeOperator {
  PerSample<std::vector<double>> matrix;
  PerSample<std::vector<int64_t>> output_shape;
  std::vector<int64_t> flip_indices;
  std::string shape_layout = "WHD";

  static Schema<KeypointsAfterMove> schema() {
    using Op = KeypointsAfterMove;
    return Schema<Op>(
               "_keypoints_after_move",
               "Completes the move of keypoints (..., k, n), x and y first: where the map mirrors, left and right "
               "change places; the third number, the visibility, of keypoints outside the image becomes 0. "
               "Types: all.")
        .arg("matrix", &Op::matrix, "The map, 3 rows of 3 numbers; omitted: it does not mirror.")
        .arg("output_shape", &Op::output_shape, "Extents of the image after; omitted: nothing is outside.")
        .arg("shape_layout", &Op::shape_layout, "Meaning of the numbers of output_shape.")
        .arg("flip_indices", &Op::flip_indices, "Which keypoint takes each place where the map mirrors.")
        .input_names({"points"})
        .read_on_host({"points"})
        .hidden()
        .oracle("numpy");
  }
  void ready() override {
    for (const int64_t k : flip_indices)
      if (k < 0 || k >= static_cast<int64_t>(flip_indices.size()))
        bad_argument("flip_indices must be within 0 and {}, got {}", flip_indices.size() - 1, k);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].ndim >= 0 && in[0].ndim < 2) bad_type("keypoints must have the shape (objects, k, n)");
    out[0] = in[0];
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const Shape& shape = in[0].shape;
    const int64_t n = shape[shape.size() - 1], k = shape[shape.size() - 2];
    if (n < 2) bad_argument("keypoints of {} numbers have no x and y", n);
    if (shape.volume() == 0) return;
    if (!flip_indices.empty() && static_cast<int64_t>(flip_indices.size()) != k)
      bad_argument("flip_indices name {} keypoints, objects have {}", flip_indices.size(), k);
    const bool swapped = !flip_indices.empty() && mirrors(s.index);
    dispatch(in[0].dtype, [&]<class T>(TypeTag<T>) {
      using Byte = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;  // std::vector<bool> has no addresses
      const auto* from = reinterpret_cast<const Byte*>(in[0].as<const T>());
      std::vector<Byte> made(from, from + shape.volume());
      for (int64_t row = 0; row < shape.volume() / n; ++row) {
        const int64_t source = swapped ? row - row % k + flip_indices[static_cast<size_t>(row % k)] : row;
        std::copy_n(from + source * n, n, made.begin() + row * n);
        if (n > 2 && outside(static_cast<double>(made[row * n]), static_cast<double>(made[row * n + 1]), s.index))
          made[row * n + 2] = Byte{};
      }
      give_numbers(out[0], made, to);
    });
  }

 private:
  bool mirrors(int sample) const {
    if (!matrix.given()) return false;
    const PointMap map = point_matrix(matrix[sample]);
    if (map.dims != 2) bad_argument("keypoints of volumes have no left and right here");
    const double* m = map.m;
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
               m[2] * (m[3] * m[7] - m[4] * m[6]) <
           0;
  }
  bool outside(double x, double y, int sample) const {
    if (!output_shape.given()) return false;
    const std::vector<int64_t> extents = output_shape[sample];
    const size_t across = shape_layout.find('W'), down = shape_layout.find('H');
    if (across >= extents.size() || down >= extents.size())
      bad_argument("output_shape has {} numbers, but the layout is '{}'", extents.size(), shape_layout);
    return !(x >= 0 && y >= 0 && x <= static_cast<double>(extents[across]) && y <= static_cast<double>(extents[down]));
  }
};
PENSTOCK_OPERATOR(KeypointsAfterMove);

}  // namespace penstock
