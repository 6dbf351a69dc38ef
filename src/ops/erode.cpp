// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/morphology.h"

namespace penstock {

struct Erode : Morphology {
  static Schema<Erode> schema() {
    return Schema<Erode>("erode",
                         "Returns the smallest element under a rectangle around each element, channel by "
                         "channel.\n\nLayouts: HW, HWC, CHW, each also with a leading F; the output keeps the layout. "
                         "Types: all.\n\n"
                         "Example:\n"
                         ">>> fn.erode(np.uint8([[9, 9, 0, 9]]), mask_size=[3, 1]).tolist()\n"
                         "[[9, 0, 0, 0]]")
        .with(&morphology_arguments<Erode>)
        .keeps_positions()
        .oracle("opencv");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    fold<ErodeRule>(s, in[0], out[0], to);
  }
};
PENSTOCK_OPERATOR(Erode);

}  // namespace penstock
