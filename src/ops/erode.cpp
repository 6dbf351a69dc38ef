// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/morphology.h"

namespace penstock {

struct Erode : Morphology {
  static Schema<Erode> schema() {
    return Schema<Erode>("erode",
                         "The smallest element under a rectangle around each, channel by channel.\n\n"
                         "Layouts: HW, HWC, CHW and these with F in front; kept. Types: all.")
        .with(&morphology_arguments<Erode>)
        .oracle("opencv");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out, SampleWork& to) const {
    run_with(false, s, in[0], out[0], to);
  }
};
PENSTOCK_OPERATOR(Erode);

}  // namespace penstock
