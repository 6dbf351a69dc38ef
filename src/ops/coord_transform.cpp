// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/axis_rule.h"

namespace penstock {

struct LinearRule {
  PENSTOCK_PIXEL(
      struct Coef { int64_t n; };  // then row j: n factors and an offset
      template <class Row> PENSTOCK_HD static double number(const Row& in, int64_t j, const Coef& c) {
        const double* row = reinterpret_cast<const double*>(&c + 1) + j * (c.n + 1);
        double sum = row[c.n];
        for (int64_t k = 0; k < c.n; ++k) sum = sum + row[k] * in[k];
        return sum;
      });
};

struct CoordTransform : WholeOperator {
  PerFrame<std::vector<float>> M, T, MT;
  DType dtype = DType::float32;

  static Schema<CoordTransform> schema() {
    using Op = CoordTransform;
    return Schema<Op>(
               "coord_transform",
               "Applies a linear map to points or vectors: M * in + T.\n\nInput: vectors of n numbers along the last "
               "axis. Output: vectors of m numbers, summed in float64. Layouts: any; the output keeps it. For "
               "sequences (F first), M, T and MT may have one value for each frame. Types: all.\n\nExample:\n>>> "
               "fn.coord_transform(np.float32([[1.0, 2.0]]), M=[2.0, 0.0, 0.0, 2.0], T=[10.0, 0.0]).tolist()\n[[12.0, "
               "4.0]]")
        .arg("M", &Op::M, "m x n numbers, row by row, or one number for the diagonal; default: the identity.")
        .arg("T", &Op::T, "m numbers, or one for all; default: 0.")
        .arg("MT", &Op::MT, "M and T side by side, m x (n + 1) numbers, or one number for the diagonal of M.")
        .arg("dtype", &Op::dtype, "Type of the result; integers are rounded half to even and saturated.")
        .float64("the few numbers of a point, so that each sum is rounded once")
        .oracle("dali");
  }
  void ready() override {
    if (MT.given() && (M.given() || T.given())) bad_argument("MT cannot be combined with M or T");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].ndim == 0) bad_type("vectors must have at least one dimension");
    out[0] = {dtype, in[0].ndim, in[0].layout};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
    int64_t& last = out[0][in[0].size() - 1];
    if (last >= 0) last = static_cast<int64_t>(coef({s.index, 0}, last).size() - 1) / (last + 1);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int last = in[0].shape.size() - 1;
    const bool framed = M.frames() || T.frames() || MT.frames();
    if (framed && (last == 0 || in[0].layout.empty() || in[0].layout[0] != 'F'))
      bad_argument("M, T or MT has one value for each frame, but the input is not a sequence");
    const int64_t parts = framed ? in[0].shape[0] : 1;
    for (int64_t f = 0; f < parts; ++f) {
      const View from = framed ? of_frame(in[0], f) : in[0], part = framed ? of_frame(out[0], f) : out[0];
      const std::vector<double> c = coef({s.index, f}, in[0].shape[last]);
      if (c.size() != 1 + static_cast<size_t>(out[0].shape[last]) * (in[0].shape[last] + 1))
        bad_argument("frame {} has a different number of rows than frame 0", f);
      map_axis_by<LinearRule>(from, part, from.shape.size() - 1, std::as_bytes(std::span(c)), to);
    }
  }

 private:
  // LinearRule::Coef and its rows, for vectors of n numbers.
  std::vector<double> coef(SampleFrame at, int64_t n) const {
    const bool both = MT.given();
    std::vector<float> matrix, shift;
    if (both) matrix = MT[at];
    else if (M.given()) matrix = M[at];
    else matrix = {1.0f};
    if (T.given()) shift = T[at];
    const int64_t columns = both ? n + 1 : n, size = static_cast<int64_t>(matrix.size());
    const bool diagonal = size == 1;
    if (!diagonal && (columns == 0 || size == 0 || size % columns != 0))
      bad_argument("{} of {} numbers is not a matrix for vectors of {}", both ? "MT" : "M", size, n);
    const int64_t m = diagonal ? n : size / columns;
    if (shift.size() > 1 && static_cast<int64_t>(shift.size()) != m)
      bad_argument("T has {} numbers for vectors of {}", shift.size(), m);
    std::vector<double> c(1 + static_cast<size_t>(m * (n + 1)));
    std::memcpy(c.data(), &n, sizeof n);
    for (int64_t j = 0; j < m; ++j) {
      double* row = &c[1 + static_cast<size_t>(j * (n + 1))];
      for (int64_t k = 0; k < n; ++k) row[k] = diagonal ? (j == k ? matrix[0] : 0.0) : matrix[j * columns + k];
      row[n] = both && !diagonal ? matrix[j * columns + n] : shift.empty() ? 0.0 : shift[shift.size() == 1 ? 0 : j];
    }
    return c;
  }
};
PENSTOCK_OPERATOR(CoordTransform);

}  // namespace penstock
