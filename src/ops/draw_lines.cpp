// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/drawn.h"

namespace penstock {

struct DrawLines : DrawOperator {
  PerSample<std::vector<float>> lines;
  PerSample<int> thickness = 1;

  static Schema<DrawLines> schema() {
    using Op = DrawLines;
    return Schema<Op>(
               "draw_lines",
               std::string("Draws lines between pixels, one over the other.\n\nA line of thickness 1 has the "
                           "pixels of OpenCV's cv2.line (LINE_8); a thicker one those whose centers are at most "
                           "(thickness + 1) / 2 away from it, so that its ends are round. ") +
                   kDrawnImages +
                   "\n\nExample:\n>>> image = np.zeros((48, 64, 3), np.uint8)\n>>> result = fn.draw_lines(image, "
                   "lines=[4, 4, 60, 40, 60, 4, 4, 40], color=[255, 200, 0])")
        .required("lines", &Op::lines,
                  "The pixels x, y of both ends: four numbers for each line, rounded to the nearest pixel.")
        .arg("thickness", &Op::thickness, "In pixels, from 1 to 255.")
        .with(&draw_arguments<Op>);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    auto [image, drawing, inks, opaque] = begin(s, in[0], out[0]);
    const int64_t thick = within_limits("thickness", thickness[s.index], 1, draw::kMostThick);
    const auto ends = lines.values(s.index);
    if (ends.size() % 4 != 0) bad_argument("lines must have 4 numbers for each line, got {} numbers", ends.size());
    for (size_t k = 0; k < ends.size(); k += 4) {
      drawing.take(inks.ink(static_cast<int64_t>(k / 4), opaque));
      int64_t p[4];
      for (size_t i = 0; i < 4; ++i) p[i] = pixel("lines", ends[k + i]);
      add_line(drawing, {p[0], p[1]}, {p[2], p[3]}, thick);
    }
    draw::draw(image, out[0], std::move(drawing), to);
  }
};
PENSTOCK_OPERATOR(DrawLines);

}  // namespace penstock
