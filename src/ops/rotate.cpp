// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/rotated_canvas.h"
#include "ops/shared/warp_arguments.h"

namespace penstock {

struct Rotate : WarpArguments {
  PerFrame<float> angle = 0.0f;
  PerFrame<std::vector<float>> axis;
  bool keep_size = false;

  static Schema<Rotate> schema() {
    return Schema<Rotate>("rotate",
                          "Rotates images counter-clockwise, and volumes about an axis, around their centers.\n\nThe "
                          "canvas holds the whole result unless size or keep_size is given. To move points with an "
                          "image, use transforms.rotation(angle=-angle): its angles go from x to y, and y points down. "
                          "Layouts: any with H and W, with D for a volume; the output keeps the layout. Types: all.")
        .required("angle", &Rotate::angle, "Angle in degrees, counter-clockwise.")
        .arg("axis", &Rotate::axis, "Axis of the rotation of a volume, (x, y, z).")
        .arg("keep_size", &Rotate::keep_size, "The canvas keeps the extents of the input.")
        .with(&warp_arguments<Rotate>)
        .float64(
            "the position where each run of 64 pixels begins, because float32 has too few digits for fractions of"
            " pixels in large images")
        .oracle("dali");
  }
  void ready() override { check_warp(); }
  void map(const SampleContext& s, Placement& p) const override {
    const std::vector<int> dims = spatial(p);
    const int n = static_cast<int>(dims.size());
    const int64_t frames = std::max(angle.count(s.index), n == 3 ? axis.count(s.index) : 1);
    std::vector<double> reach;  // of each frame: how far the axes of the input extend along those of the output
    double r[9];
    for (int64_t k = 0; k < frames; ++k) {  // all frames have the same canvas
      const SampleFrame at(s.index, k);
      rotation(canvas_turn(angle[at]), about(at, n), r);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)  // the inverse of a rotation is its transpose
          reach.push_back(n == 3 ? std::fabs(static_cast<float>(r[j * n + i])) : std::fabs(r[j * n + i]));
    }
    int64_t in[3], out[3];  // x, y, z
    for (int i = 0; i < n; ++i) in[i] = p.extent(dims[n - 1 - i]);
    canvas(s.index, n, in, reach, out);
    rotation(exact_turn(angle[s.values()]), about(s.values(), n), r);
    AffineMap map = start_map(n, p);
    for (int i = 0; i < n; ++i) {
      double* row = map.m + i * (n + 1);
      std::copy(r + i * n, r + i * n + n, row);
      double offset = static_cast<double>(in[i]) / 2;
      for (int j = 0; j < n; ++j) offset -= row[j] * (static_cast<double>(out[j]) / 2);
      row[n] = offset;
      map.out[2 - i] = out[i];
    }
    p.affine(map);
  }
  int64_t out_extent(const SampleContext& s, char c, int64_t in) const override {
    if (c != 'D' && c != 'H' && c != 'W') return in;
    const int n = size.given() ? static_cast<int>(size[s.index].size()) : 0;
    const int i = n - (c == 'W' ? 1 : c == 'H' ? 2 : 3);
    if (n == 1) return *given_extent(s.index, 0, 1);
    return n > 0 && i >= 0 && i < n ? *given_extent(s.index, i, n) : keep_size ? in : -1;
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
PENSTOCK_OPERATOR(Rotate);

}  // namespace penstock
