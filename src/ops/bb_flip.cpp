// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/box_axis_rule.h"

namespace penstock {

struct BoxFlipRule : BoxRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Boxes boxes;
        bool horizontal, vertical;
      };
      template <class Row> PENSTOCK_HD static double number(const Row& in, int64_t j, const Coef& c) {
        if (outside(in, c.boxes)) return c.boxes.refused;
        if (!(j % 2 ? c.vertical : c.horizontal)) return in[j];
        const double whole = c.boxes.extent[j % 2];
        if (c.boxes.format == 0) return whole - in[j < 2 ? j + 2 : j - 2];
        if (j >= 2) return in[j];
        return c.boxes.format == 1 ? whole - in[j] - in[j + 2] : whole - in[j];
      });
};

struct BbFlip : BoxRows {
  PerSample<int> horizontal = 1, vertical = 0;

  static Schema<BbFlip> schema() {
    return Schema<BbFlip>(
               "bb_flip",
               "Flips boxes as their image is flipped.\n\nInput: float32 boxes of shape (N, 4), or of any shape whose "
               "last extent is 4. Output: the same shape. A box far outside its image is an error; on a GPU the result "
               "is NaN. Layouts: any; the output keeps it.\n\n"
               "Example:\n"
               ">>> fn.bb_flip(np.float32([[0.25, 0.25, 0.25, 0.5]]), horizontal=1).tolist()\n"
               "[[0.5, 0.25, 0.25, 0.5]]")
        .arg("horizontal", &BbFlip::horizontal, "Flip along x.")
        .arg("vertical", &BbFlip::vertical, "Flip along y.")
        .with(&box_row_arguments<BbFlip>)
        .float64("the few numbers of a box, so that each is rounded once")
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    move_boxes<BoxFlipRule>(in[0], out[0], {boxes(s.index), horizontal[s.index] != 0, vertical[s.index] != 0}, s.index,
                            to);
  }
};
PENSTOCK_OPERATOR(BbFlip);

}  // namespace penstock
