// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/operator.h"

namespace penstock {

// A map that moves nothing: inside a longer stage it costs nothing, alone it copies.
struct Copy {
  static Schema<Copy> schema() {
    return Schema<Copy>("copy", "Copies the samples.\n\nLayouts: any; kept. Types: all.").oracle("dali");
  }
  void map(const SampleContext&, Placement&) const {}
  int64_t out_extent(const SampleContext&, char, int64_t in) const { return in; }
};
PENSTOCK_OPERATOR(Copy);

}  // namespace penstock
