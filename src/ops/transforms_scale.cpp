// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/affine_transform.h"

namespace penstock {

struct TransformsScale : AffineTransform<TransformsScale> {
  PerFrame<std::vector<float>> scale, center;
  Optional<int> ndim;

  static Schema<TransformsScale> schema() {
    using Op = TransformsScale;
    return Schema<Op>("transforms.scale", std::string("Returns the matrix of a scaling about a center.") + kAbout)
        .required("scale", &Op::scale, "The factor of each coordinate, or one for all coordinates.")
        .arg("center", &Op::center, "The point that does not move, or one number for all coordinates; default: 0.")
        .arg("ndim", &Op::ndim, "The number of dimensions, if neither scale nor an input gives it.", at_least(1))
        .with(&Op::arguments);
  }
  auto per_frame() const { return std::tie(scale, center); }
  int dims(SampleFrame at, std::optional<int> input) const {
    const auto n = static_cast<int>(scale.values(at).size());
    if (n != 1) return n;
    if (ndim.given()) return *ndim;
    return input ? *input : center.given() ? static_cast<int>(center.values(at).size()) : 1;
  }
  AffineMatrix matrix(SampleFrame at, int n) const {
    AffineMatrix m(n);
    const auto by = each_of(scale[at], n, "scale");
    for (int i = 0; i < n; ++i) m.at(i, i) = by[i];
    if (center.given()) m.about(each_of(center[at], n, "center"));
    return m;
  }
};
PENSTOCK_OPERATOR(TransformsScale);

}  // namespace penstock
