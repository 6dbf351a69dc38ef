// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/morphology.h"

namespace penstock {

struct Dilate : Morphology {
  static Schema<Dilate> schema() {
    return Schema<Dilate>("dilate",
                          "Returns the largest element under a rectangle around each element, channel by "
                          "channel.\n\nLayouts: HW, HWC, CHW, each also with a leading F; the output keeps the layout. "
                          "Types: all.\n\n"
                          "Example:\n"
                          ">>> fn.dilate(np.uint8([[0, 9, 0, 0]]), mask_size=[3, 1]).tolist()\n"
                          "[[9, 9, 9, 0]]")
        .with(&morphology_arguments<Dilate>)
        .keeps_positions()
        .oracle("opencv");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    fold<DilateRule>(s, in[0], out[0], to);
  }
};
PENSTOCK_OPERATOR(Dilate);

}  // namespace penstock
