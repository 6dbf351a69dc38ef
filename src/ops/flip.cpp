// SPDX-License-Identifier: Apache-2.0
#include "operator/image_layout.h"
#include "operator/operator.h"

namespace penstock {

struct Flip : MapOperator {
  PerSample<int> horizontal = 1;
  PerSample<int> vertical = 0;
  PerSample<int> depthwise = 0;

  static Schema<Flip> schema() {
    return Schema<Flip>("flip",
                        "Mirrors images along their axes.\n\nLayouts: any with H and W; the output keeps the layout. "
                        "Types: all.")
        .arg("horizontal", &Flip::horizontal, "Mirror left to right if this is not 0.")
        .arg("vertical", &Flip::vertical, "Mirror top to bottom if this is not 0.")
        .arg("depthwise", &Flip::depthwise, "Mirror front to back if this is not 0.")
        .oracle("dali");
  }
  Layout input_layout(const ValueType& in) const override { return image_layout(in); }
  void map(const SampleContext& s, Placement& p) const override {
    auto mirror = [&](char axis, bool yes) {
      if (const int d = p.dim(axis); yes && d >= 0) p.window(d, p.extent(d) - 1, p.extent(d), -1);
    };
    mirror('W', horizontal[s.index]);
    mirror('H', vertical[s.index]);
    mirror('D', depthwise[s.index]);
  }
  int64_t out_extent(const SampleContext&, char, int64_t in) const override { return in; }
};
PENSTOCK_OPERATOR(Flip);

}  // namespace penstock
