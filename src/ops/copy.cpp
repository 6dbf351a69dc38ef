// SPDX-License-Identifier: Apache-2.0
#include "operator/operator.h"

namespace penstock {

// A map that moves nothing: free inside a longer stage, a copy on its own.
struct Copy : MapOperator {
  static Schema<Copy> schema() {
    return Schema<Copy>("copy", "Copies the samples.\n\nLayouts: any; the output keeps it. Types: all.").oracle("dali");
  }
  void map(const SampleContext&, Placement&) const override {}
  int64_t out_extent(const SampleContext&, char, int64_t in) const override { return in; }
};
PENSTOCK_OPERATOR(Copy);

}  // namespace penstock
