// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/affine_transform.h"
#include "pixel/transcendental.h"

namespace penstock {

struct TransformsRotation : AffineTransform<TransformsRotation> {
  PerFrame<float> angle = 0.0f;
  PerFrame<std::vector<float>> axis, center;

  static Schema<TransformsRotation> schema() {
    using Op = TransformsRotation;
    return Schema<Op>("transforms.rotation",
                      std::string("Returns the matrix of a rotation about a center, in three dimensions about an "
                                  "axis.") +
                          kAbout)
        .required("angle", &Op::angle,
                  "Angle in degrees; multiples of 90 are exact. In a plane, x rotates towards y. On an image, where y "
                  "points down, that is clockwise, the opposite of rotate(angle=).")
        .arg("axis", &Op::axis,
             "Direction of the rotation axis (x, y, z), of any length but 0; without it the rotation is in a plane.")
        .arg("center", &Op::center, "The point that does not move, or one number for all coordinates; default: 0.")
        .with(&Op::arguments);
  }
  auto per_frame() const { return std::tie(angle, axis, center); }
  int dims(SampleFrame, std::optional<int>) const { return axis.given() ? 3 : 2; }
  AffineMatrix matrix(SampleFrame at, int n) const {
    const double degrees = angle[at];
    if (!(degrees >= -1e9 && degrees <= 1e9)) bad_argument("angle must be a finite number of degrees, got {}", degrees);
    const double whole = round_even(degrees / 90), rest = (degrees - 90 * whole) * (kPi / 180);
    const auto quarters = static_cast<int64_t>(whole);
    const double s = series::sin_quarter({rest, quarters}), c = series::sin_quarter({rest, quarters + 1});
    AffineMatrix m(n);
    if (n == 2) {
      m.at(0, 0) = m.at(1, 1) = c;
      m.at(0, 1) = -s, m.at(1, 0) = s;
    } else {
      turn(m, unit(axis[at]), s, c);
    }
    if (center.given()) m.about(each_of(center[at], n, "center"));
    return m;
  }

 private:
  static std::vector<double> unit(const std::vector<float>& v) {
    if (v.size() != 3) bad_argument("axis has {} numbers instead of 3", v.size());
    double square = 0;
    for (float x : v) square += static_cast<double>(x) * x;
    if (!(square > 0 && square < 1e300)) bad_argument("axis must be a vector of a length greater than 0");
    std::vector<double> u(v.begin(), v.end());
    for (double& x : u) x /= __builtin_sqrt(square);
    return u;
  }
  // Rodrigues' formula.
  static void turn(AffineMatrix& m, const std::vector<double>& u, double s, double c) {
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        const int other = 3 - i - k, sign = (k - i + 3) % 3 == 1 ? -1 : 1;  // of the cross product's matrix
        m.at(i, k) = u[i] * u[k] * (1 - c) + (i == k ? c : sign * u[other] * s);
      }
  }
};
PENSTOCK_OPERATOR(TransformsRotation);

}  // namespace penstock
