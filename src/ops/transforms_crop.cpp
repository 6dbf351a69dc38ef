// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "ops/shared/affine_transform.h"

namespace penstock {

struct TransformsCrop : AffineTransform<TransformsCrop> {
  using Corner = PerFrame<std::vector<float>>;
  Corner from_start = std::vector<float>{0.0f}, from_end = std::vector<float>{1.0f};
  Corner to_start = std::vector<float>{0.0f}, to_end = std::vector<float>{1.0f};
  bool absolute = false;

  static Schema<TransformsCrop> schema() {
    using Op = TransformsCrop;
    return Schema<Op>("transforms.crop",
                      std::string("Returns the matrix that maps one box to another, corner to corner.\n\nA crop "
                                  "followed by a resize maps coordinates in this way.") +
                          kAbout)
        .arg("from_start", &Op::from_start, "Lower corner of the input box, or one number for all coordinates.")
        .arg("from_end", &Op::from_end, "Upper corner of the input box, or one number for all coordinates.")
        .arg("to_start", &Op::to_start, "Lower corner of the output box, or one number for all coordinates.")
        .arg("to_end", &Op::to_end, "Upper corner of the output box, or one number for all coordinates.")
        .arg("absolute", &Op::absolute, "Swap coordinates of corners that are in the wrong order.")
        .with(&Op::arguments);
  }
  auto per_frame() const { return std::tie(from_start, from_end, to_start, to_end); }
  int dims(SampleFrame at, std::optional<int>) const {
    size_t n = 1;
    for (const Corner* c : {&from_start, &from_end, &to_start, &to_end}) n = std::max(n, c->values(at).size());
    return static_cast<int>(n);
  }
  AffineMatrix matrix(SampleFrame at, int n) const {
    auto a = each_of(from_start[at], n, "from_start"), b = each_of(from_end[at], n, "from_end");
    auto c = each_of(to_start[at], n, "to_start"), d = each_of(to_end[at], n, "to_end");
    AffineMatrix m(n);
    for (int i = 0; i < n; ++i) {
      if (absolute && a[i] > b[i]) std::swap(a[i], b[i]);
      if (absolute && c[i] > d[i]) std::swap(c[i], d[i]);
      m.at(i, i) = (static_cast<double>(d[i]) - c[i]) / (static_cast<double>(b[i]) - a[i]);
      m.at(i, n) = c[i] - a[i] * m.at(i, i);
    }
    return m;
  }
};
PENSTOCK_OPERATOR(TransformsCrop);

}  // namespace penstock
