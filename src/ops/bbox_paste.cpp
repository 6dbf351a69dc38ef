// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/box_axis_rule.h"

namespace penstock {

struct BoxPasteRule : BoxRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Boxes boxes;
        double divisor;
        double shift[2];
        int64_t places;
      };  // the first `places` numbers of a box are positions, the others are extents
      template <class Row> PENSTOCK_HD static double number(const Row& in, int64_t j, const Coef& c) {
        if (outside(in, c.boxes)) return c.boxes.refused;
        const double scaled = in[j] / c.divisor;
        return j < c.places ? scaled + c.shift[j % 2] : scaled;
      });
};

struct BboxPaste : BoxRows {
  PerSample<float> ratio, paste_x = 0.5f, paste_y = 0.5f;

  static Schema<BboxPaste> schema() {
    using Op = BboxPaste;
    return Schema<Op>(
               "bbox_paste",
               "Moves boxes as pasting their image on a larger canvas does.\n\nA position p becomes p / ratio + paste "
               "* (ratio - 1) / ratio, and an extent e becomes e / ratio. In pixels, p becomes p + paste * (ratio - 1) "
               "* extent, and e stays. Input: float32 boxes of shape (N, 4), or of any shape whose last extent is 4. "
               "Output: the same shape, in fractions of the canvas or in pixels. A box far outside its image is an "
               "error; on a GPU the result is NaN. Layouts: any; the output keeps it.\n\n"
               "Example:\n"
               ">>> fn.bbox_paste(np.float32([[0.25, 0.25, 0.25, 0.5]]), ratio=2.0, paste_x=0.0, "
               "paste_y=0.0).tolist()\n"
               "[[0.125, 0.125, 0.125, 0.25]]")
        .required("ratio", &Op::ratio, "The canvas' extents divided by the image's, at least 1.", above(0))
        .arg("paste_x", &Op::paste_x, "Horizontal position of the image: 0 is the left of the canvas, 1 the right.")
        .arg("paste_y", &Op::paste_y, "Vertical position of the image: 0 is the top of the canvas, 1 the bottom.")
        .with(&box_row_arguments<Op>)
        .float64("the few numbers of a box, so that each is rounded once")
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const double r = ratio[s.index], divisor = bbox_normalized ? r : 1;
    BoxPasteRule::Coef c{boxes(s.index), divisor, {}, 2};
    const float paste[2] = {paste_x[s.index], paste_y[s.index]};
    for (int a = 0; a < 2; ++a) c.shift[a] = paste[a] * (r - 1) / divisor * c.boxes.extent[a];
    if (c.boxes.format == 0) c.places = 4;
    move_boxes<BoxPasteRule>(in[0], out[0], c, s.index, to);
  }
};
PENSTOCK_OPERATOR(BboxPaste);

}  // namespace penstock
