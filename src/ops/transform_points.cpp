// SPDX-License-Identifier: Apache-2.0
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
    to.map_axis(in[0], out[0], last, axis_rule<PointRule>(), std::as_bytes(std::span(&c, 1)));
  }
};
PENSTOCK_OPERATOR(TransformPoints);

}  // namespace penstock
