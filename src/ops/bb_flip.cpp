// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/axis_rule.h"

namespace penstock {

struct BoxFlipRule {
  PENSTOCK_PIXEL(
    struct Coef { bool horizontal, vertical, ltrb; };
    template <class Row> PENSTOCK_HD static double number(const Row& in, int64_t j, const Coef& c) {
      if (!(j % 2 ? c.vertical : c.horizontal)) return in[j];
      if (c.ltrb) return 1.0 - in[j < 2 ? j + 2 : j - 2];
      return j < 2 ? 1.0 - in[j] - in[j + 2] : in[j];
    });
};

struct BbFlip : BoxRows {
  PerSample<int> horizontal = 1, vertical = 0;

  static Schema<BbFlip> schema() {
    return Schema<BbFlip>(
               "bb_flip",
               "Moves boxes as a flip of their image does.\n\nInput: float32 boxes in units of the image, (N, 4), or "
               "rows of 4 numbers in any shape. Output: the same shape. Layouts: any; kept.")
        .arg("horizontal", &BbFlip::horizontal, "Flip along x.")
        .arg("vertical", &BbFlip::vertical, "Flip along y.")
        .arg("ltrb", &BbFlip::ltrb, "Boxes are (left, top, right, bottom), else (x, y, width, height).")
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out, SampleWork& to) const {
    map<BoxFlipRule>(in[0], out[0], {horizontal[s.index] != 0, vertical[s.index] != 0, ltrb}, to);
  }
};
PENSTOCK_OPERATOR(BbFlip);

}  // namespace penstock
