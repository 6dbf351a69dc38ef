// SPDX-License-Identifier: Apache-2.0
// The arguments of warp_affine.
#pragma once
#include "numerics/matrix_inverse.h"
#include "ops/shared/sampling.h"
#include "ops/shared/warp_arguments.h"

namespace penstock {

struct AffineArguments : WarpArguments {
  PerFrame<std::vector<double>> matrix;
  bool inverse_map = true;
  std::string pixel_origin = "corner";

  void check_affine() {
    check_warp();
    pixel_shift(pixel_origin);
    if (!matrix.given()) bad_argument("the argument 'matrix' is required");
  }
  bool by_frame() const { return matrix.frames(); }
  int64_t extent_known(int sample, char axis, int64_t in) const { return plain_extent(sample, axis, in); }
  AffineMap affine_map(SampleFrame at, int n, const int64_t* extents) const {
    const size_t numbers = static_cast<size_t>(n) * (n + 1);
    const std::vector<double> values = matrix[at];
    if (values.size() != numbers)
      bad_argument("matrix must have {} values for {}, got {}", numbers, n == 2 ? "an image" : "a volume",
                   values.size());
    AffineMap map;
    map.dims = n;
    for (int i = 0; i < n; ++i) map.out[3 - n + i] = given_extent(at.sample, i, n).value_or(extents[n - 1 - i]);
    std::copy(values.begin(), values.end(), map.m);
    for (size_t i = 0; i < numbers; ++i)
      if (!std::isfinite(map.m[i])) bad_argument("matrix must be finite");
    if (!inverse_map) invert(map);
    if (pixel_origin == "center") move_origin(map);
    return map;
  }

 private:
  // From positions of centers to those of corners.
  static void move_origin(AffineMap& map) {
    for (int r = 0; r < map.dims; ++r) {
      double* row = map.m + r * (map.dims + 1);
      double sum = 0;
      for (int c = 0; c < map.dims; ++c) sum += row[c];
      row[map.dims] += 0.5 - 0.5 * sum;
    }
  }
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

template <class Op> Schema<Op>&& affine_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("matrix", &Op::matrix,
           "2 rows of 3 numbers, or for volumes 3 rows of 4, row by row. May be given as a second input.")
      .arg("inverse_map", &Op::inverse_map, "The matrix maps output to input; otherwise it is inverted.")
      .with(&warp_arguments<Op>)
      .arg("pixel_origin", &Op::pixel_origin,
           "The position (0, 0): \"corner\" or \"center\" (as in OpenCV) of the first pixel.")
      .argument_inputs({"matrix"});
}

}  // namespace penstock
