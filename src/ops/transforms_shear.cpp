// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/affine_transform.h"
#include "pixel/transcendental.h"

namespace penstock {

struct TransformsShear : AffineTransform<TransformsShear> {
  PerFrame<std::vector<float>> shear, angles, center;

  static Schema<TransformsShear> schema() {
    using Op = TransformsShear;
    return Schema<Op>("transforms.shear", std::string("Returns the matrix of a shear about a center.") + kAbout +
                                              "\n\nExample:\n"
                                              ">>> fn.transforms.shear(shear=[0.5, 0.0]).tolist()\n"
                                              "[[1.0, 0.5, 0.0], [0.0, 1.0, 0.0]]")
        .arg("shear", &Op::shear,
             "Shear factors (xy, yx), or (xy, xz, yx, yz, zx, zy); xy is added to x for each step along y. Instead of "
             "angles.")
        .arg("angles", &Op::angles,
             "Shear angles in degrees, from -90 to 90; their tangents are the factors. Instead of shear.")
        .arg("center", &Op::center, "The point that does not move, or one number for all coordinates; default: 0.")
        .with(&Op::arguments);
  }
  void ready() override {
    if (shear.given() == angles.given()) bad_argument("give either shear or angles");
  }
  auto per_frame() const { return std::tie(shear, angles, center); }
  int dims(SampleFrame at, std::optional<int>) const {
    const size_t n = given().values(at).size();
    if (n != 2 && n != 6) bad_argument("{} has {} numbers instead of 2 or 6", shear.given() ? "shear" : "angles", n);
    return n == 2 ? 2 : 3;
  }
  AffineMatrix matrix(SampleFrame at, int n) const {
    if (dims(at, {}) != n) bad_argument("frames have different numbers of dimensions");
    const auto numbers = given()[at];
    AffineMatrix m(n);
    size_t next = 0;
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k)
        if (i != k) m.at(i, k) = shear.given() ? static_cast<double>(numbers[next++]) : tangent(numbers[next++]);
    if (center.given()) m.about(each_of(center[at], n, "center"));
    return m;
  }

 private:
  const PerFrame<std::vector<float>>& given() const { return shear.given() ? shear : angles; }
  static double tangent(float degrees) {
    if (!(degrees >= -90 && degrees <= 90))
      bad_argument("a shear angle must be from -90 to 90 degrees, got {}", degrees);
    return tan(degrees * (kPi / 180));
  }
};
PENSTOCK_OPERATOR(TransformsShear);

}  // namespace penstock
