// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/axis_rule.h"

namespace penstock {

struct BoxPasteRule {
  PENSTOCK_PIXEL(
      struct Coef {
        double ratio, x, y;
        int64_t places;
      };  // the first `places` numbers are positions, the others extents
      template <class Row> PENSTOCK_HD static double number(const Row& in, int64_t j, const Coef& c) {
        const double scaled = in[j] / c.ratio;
        return j < c.places ? scaled + (j % 2 ? c.y : c.x) : scaled;
      });
};

struct BboxPaste : BoxRows {
  PerSample<float> ratio, paste_x = 0.5f, paste_y = 0.5f;

  static Schema<BboxPaste> schema() {
    using Op = BboxPaste;
    return Schema<Op>(
               "bbox_paste",
               "Moves boxes as pasting their image on a larger canvas does.\n\nA position p becomes p / ratio + paste "
               "* "
               "(ratio - 1) / ratio, an extent e becomes e / ratio. Input: float32 boxes in units of the image, (N, "
               "4), or "
               "rows of 4 numbers in any shape. Output: the same shape, in units of the canvas. Layouts: any; kept.")
        .required("ratio", &Op::ratio, "The canvas' extents over the image's; 1 or more.", above(0))
        .arg("paste_x", &Op::paste_x, "Where the image lies: 0 at the canvas' left, 1 at its right.")
        .arg("paste_y", &Op::paste_y, "Where the image lies: 0 at the canvas' top, 1 at its bottom.")
        .arg("ltrb", &Op::ltrb, "Boxes are (left, top, right, bottom), else (x, y, width, height).")
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out, SampleWork& to) const {
    const double r = ratio[s.index];
    map<BoxPasteRule>(in[0], out[0], {r, paste_x[s.index] * (r - 1) / r, paste_y[s.index] * (r - 1) / r, ltrb ? 4 : 2},
                      to);
  }
};
PENSTOCK_OPERATOR(BboxPaste);

}  // namespace penstock
