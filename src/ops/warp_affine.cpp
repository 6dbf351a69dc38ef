// SPDX-License-Identifier: Apache-2.0
#include "numerics/matrix_inverse.h"
#include "ops/shared/warp_arguments.h"

namespace penstock {

struct WarpAffine : WarpArguments {
  PerFrame<std::vector<double>> matrix;
  bool inverse_map = true;

  static Schema<WarpAffine> schema() {
    return Schema<WarpAffine>("warp_affine",
                              "Transforms images and volumes by an affine map.\n\nCoordinates are (x, y[, z]) with 0 "
                              "at the outer corner of the first pixel: pixel k has its center at k + 0.5. For cubic "
                              "interpolation and other borders call `warp_perspective` with the third row 0, 0, 1. "
                              "Layouts: any with H and W, with D for a volume; the output keeps the layout. Types: "
                              "all.")
        .arg("matrix", &WarpAffine::matrix,
             "2 rows of 3 numbers, or for volumes 3 rows of 4, row by row. May be given as a second input.")
        .arg("inverse_map", &WarpAffine::inverse_map, "The matrix maps output to input; otherwise it is inverted.")
        .with(&warp_arguments<WarpAffine>)
        .argument_inputs({"matrix"})
        .float64(
            "the position where each run of 64 pixels begins, because float32 has too few digits for fractions of"
            " pixels in large images")
        .oracle("opencv");
  }
  void ready() override {
    check_warp();
    if (!matrix.given()) bad_argument("the argument 'matrix' is required");
  }
  void map(const SampleContext& s, Placement& p) const override {
    const std::vector<int> dims = spatial(p);
    const int n = static_cast<int>(dims.size());
    const size_t numbers = static_cast<size_t>(n) * (n + 1);
    const std::vector<double> values = matrix[s.values()];
    if (values.size() != numbers)
      bad_argument("matrix must have {} values for the layout '{}', got {}", numbers, p.layout().str(), values.size());
    AffineMap map = start_map(n, p);
    for (int i = 0; i < n; ++i) map.out[3 - n + i] = given_extent(s.index, i, n).value_or(p.extent(dims[i]));
    std::copy(values.begin(), values.end(), map.m);
    for (size_t i = 0; i < numbers; ++i)
      if (!std::isfinite(map.m[i])) bad_argument("matrix must be finite");
    if (!inverse_map) invert(map);
    p.affine(map);
  }
  int64_t out_extent(const SampleContext& s, char axis, int64_t in) const override {
    if (axis != 'D' && axis != 'H' && axis != 'W') return in;
    if (!size.given()) return in;
    const int n = static_cast<int>(size[s.index].size());
    const int i = n - (axis == 'W' ? 1 : axis == 'H' ? 2 : 3);
    return n == 1 ? *given_extent(s.index, 0, 1) : i >= 0 && i < n ? *given_extent(s.index, i, n) : in;
  }

 private:
  // The square part, then the offset.
  static void invert(AffineMap& map) {
    const int n = map.dims, columns = n + 1;
    double a[3][6] = {};
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) a[r][c] = map.m[r * columns + c];
    if (!make_inverse(a, n)) bad_argument("the matrix is singular and cannot be inverted");
    double offset[3] = {};
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) offset[r] -= a[r][n + c] * map.m[c * columns + n];
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < n; ++c) map.m[r * columns + c] = a[r][n + c];
      map.m[r * columns + n] = offset[r];
    }
  }
};
PENSTOCK_OPERATOR(WarpAffine);

}  // namespace penstock
