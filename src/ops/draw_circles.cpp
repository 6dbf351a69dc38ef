// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/drawn.h"

namespace penstock {

struct DrawCircles : DrawOperator {
  PerSample<std::vector<float>> centers, radius;
  PerSample<int> thickness = 0;

  static Schema<DrawCircles> schema() {
    using Op = DrawCircles;
    return Schema<Op>("draw_circles",
                      std::string("Draws circles or discs, one over the other: keypoints, for example.\n\nDiscs, and "
                                  "circles of thickness 1, have the pixels of OpenCV's cv2.circle (LINE_8); a thicker "
                                  "circle those whose centers are at most (thickness + 1) / 2 away from it. ") +
                          kDrawnImages +
                          "\n\nExample:\n>>> image = np.zeros((48, 64, 3), np.uint8)\n>>> result = "
                          "fn.draw_circles(image, centers=[20, 20, 40, 30], radius=[5, 3], color=[0, 255, 0])")
        .required("centers", &Op::centers,
                  "The pixels x, y: two numbers for each circle, rounded to the nearest pixel.")
        .required("radius", &Op::radius,
                  "In pixels: one number, or one for each circle, rounded to the nearest; 0 is a point.")
        .arg("thickness", &Op::thickness, "In pixels, from 1 to 255; 0: a disc.")
        .with(&draw_arguments<Op>);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    auto [image, drawing, inks, opaque] = begin(s, in[0], out[0]);
    const int64_t thick = within_limits("thickness", thickness[s.index], 0, draw::kMostThick);
    const auto places = centers.values(s.index), reach = radius.values(s.index);
    const size_t n = places.size() / 2;
    if (places.size() % 2 != 0) bad_argument("centers must have 2 numbers for each, got {} numbers", places.size());
    if (reach.size() != 1 && reach.size() != n)
      bad_argument("radius has {} numbers; expected 1, or {} for the circles", reach.size(), n);
    for (size_t k = 0; k < n; ++k) {
      const float r = reach[reach.size() == 1 ? 0 : k];
      if (!(r >= 0 && r <= kMostRadius)) bad_argument("radius must be from 0 to {}, got {}", kMostRadius, r);
      drawing.take(inks.ink(static_cast<int64_t>(k), opaque));
      add_circle(drawing, {pixel("centers", places[2 * k]), pixel("centers", places[2 * k + 1])}, pixel("radius", r),
                 thick);
    }
    draw::draw(image, out[0], std::move(drawing), to);
  }

 private:
  static constexpr float kMostRadius = 32768;
};
PENSTOCK_OPERATOR(DrawCircles);

}  // namespace penstock
