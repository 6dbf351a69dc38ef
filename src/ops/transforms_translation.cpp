// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/affine_transform.h"

namespace penstock {

struct TransformsTranslation : AffineTransform<TransformsTranslation> {
  PerFrame<std::vector<float>> offset;

  static Schema<TransformsTranslation> schema() {
    using Op = TransformsTranslation;
    return Schema<Op>("transforms.translation", std::string("Returns the matrix of a translation.") + kAbout)
        .required("offset", &Op::offset, "The offset of each coordinate, one number per dimension.")
        .with(&Op::arguments);
  }
  auto per_frame() const { return std::tie(offset); }
  int dims(SampleFrame at, std::optional<int>) const { return static_cast<int>(offset.values(at).size()); }
  AffineMatrix matrix(SampleFrame at, int n) const {
    AffineMatrix m(n);
    const auto by = offset[at];
    if (static_cast<int>(by.size()) != n)
      bad_argument("offset has {} numbers, but the input has {} dimensions", by.size(), n);
    for (int i = 0; i < n; ++i) m.at(i, n) = by[i];
    return m;
  }
};
PENSTOCK_OPERATOR(TransformsTranslation);

}  // namespace penstock
