// SPDX-License-Identifier: Apache-2.0
// The arguments of rotate.
#pragma once
#include "ops/shared/rotated_canvas.h"
#include "ops/shared/warp_arguments.h"

namespace penstock {

struct RotateArguments : WarpArguments {
  PerFrame<float> angle = 0.0f;
  PerFrame<std::vector<float>> axis;
  bool keep_size = false;

  bool by_frame() const { return angle.frames(); }
  int64_t extent_known(int sample, char letter, int64_t in) const {
    return plain_extent(sample, letter, keep_size ? in : -1);
  }
  AffineMap affine_map(SampleFrame at, int n, const int64_t* in) const {
    const int64_t frames = std::max(angle.count(at.sample), n == 3 ? axis.count(at.sample) : 1);
    std::vector<double> reach;  // of each frame: how far the axes of the input extend along those of the output
    double r[9];
    for (int64_t k = 0; k < frames; ++k) {  // all frames have the same canvas
      const SampleFrame one(at.sample, k);
      rotation(canvas_turn(angle[one]), about(one, n), r);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)  // the inverse of a rotation is its transpose
          reach.push_back(n == 3 ? std::fabs(static_cast<float>(r[j * n + i])) : std::fabs(r[j * n + i]));
    }
    int64_t out[3];  // x, y, z
    canvas(at.sample, n, in, reach, out);
    rotation(exact_turn(angle[at]), about(at, n), r);
    AffineMap map;
    map.dims = n;
    for (int i = 0; i < n; ++i) {
      double* row = map.m + i * (n + 1);
      std::copy(r + i * n, r + i * n + n, row);
      double offset = static_cast<double>(in[i]) / 2;
      for (int j = 0; j < n; ++j) offset -= row[j] * (static_cast<double>(out[j]) / 2);
      row[n] = offset;
      map.out[2 - i] = out[i];
    }
    return map;
  }

 private:
  // The rotation axis of a volume; empty for images.
  std::vector<float> about(SampleFrame at, int n) const {
    if (n == 2) return {};
    std::vector<float> u = axis[at];
    if (u.size() != 3) bad_argument("a volume needs an axis of 3 numbers, got {}", u.size());
    return u;
  }
  // Output to input, rows x, y[, z].
  static void rotation(Turn turn, const std::vector<float>& axis, double* r) {
    const double c = turn.cos,
                 s = axis.empty() ? turn.sin : -turn.sin;  // the rotation about the axis maps input to output
    if (axis.empty()) {
      r[0] = c, r[1] = -s, r[2] = s, r[3] = c;
      return;
    }
    double u[3], norm = 0;
    for (int i = 0; i < 3; ++i) norm += static_cast<double>(axis[i]) * axis[i];
    norm = std::sqrt(norm);
    if (!(norm > 0) || !std::isfinite(norm)) bad_argument("axis must not be zero");
    for (int i = 0; i < 3; ++i) u[i] = axis[i] / norm;
    const double cross[9] = {0, -u[2], u[1], u[2], 0, -u[0], -u[1], u[0], 0};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) r[i * 3 + j] = c * (i == j) + s * cross[i * 3 + j] + (1 - c) * u[i] * u[j];
  }
  void canvas(int sample, int n, const int64_t* in, const std::vector<double>& reach, int64_t* out) const {
    for (int i = 0; i < n; ++i) {
      const auto given = given_extent(sample, n - 1 - i, n);
      out[i] = given ? *given : keep_size ? in[i] : rotated_extent(i, n, in, reach);
    }
  }
};

template <class Op> Schema<Op>&& rotate_arguments(Schema<Op>&& s) {
  return std::move(s)
      .required("angle", &Op::angle, "Angle in degrees, counter-clockwise.")
      .arg("axis", &Op::axis, "Axis of the rotation of a volume, (x, y, z).")
      .arg("keep_size", &Op::keep_size, "The canvas keeps the extents of the input.")
      .with(&warp_arguments<Op>);
}

}  // namespace penstock
