// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/drawn.h"

namespace penstock {

struct DrawText : DrawOperator {
  std::vector<std::string> text;
  PerSample<std::vector<float>> positions, background;
  PerSample<std::vector<int64_t>> indices;
  PerSample<int> scale = 1;

  static Schema<DrawText> schema() {
    using Op = DrawText;
    return Schema<Op>(
               "draw_text",
               std::string("Draws lines of text in a font of 8 x 13 pixels, which may be scaled.\n\nThe font has "
                           "the characters of ASCII; others are drawn as '?'. A line break begins a new line. ") +
                   kDrawnImages +
                   "\n\nExample:\n>>> image = np.zeros((48, 64, 3), np.uint8)\n>>> result = fn.draw_text(image, "
                   "text=[\"left\", \"right\"], positions=[2, 2, 20, 30])")
        .required("text", &Op::text, "The texts.")
        .required("positions", &Op::positions,
                  "The pixel x, y of the left upper corner of each text: two numbers for each, rounded to the nearest "
                  "pixel.")
        .arg("indices", &Op::indices,
             "Which of the texts is drawn at each position, from 0; default: each at its own. Samples may so have "
             "texts of their own.")
        .arg("scale", &Op::scale, "A pixel of the font becomes so many pixels in both directions, from 1 to 64.")
        .arg("background", &Op::background,
             "The color of a rectangle under each text, as `color`; default: the image remains.")
        .with(&draw_arguments<Op>);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    auto [image, drawing, inks, opaque] = begin(s, in[0], out[0]);
    const int64_t times = within_limits("scale", scale[s.index], 1, draw::kMostScale);
    const auto places = positions.values(s.index);
    const std::vector<int64_t> chosen = indices.given() ? indices[s.index] : std::vector<int64_t>{};
    const size_t n = indices.given() ? chosen.size() : text.size();
    if (places.size() != 2 * n)
      bad_argument("positions has {} numbers; expected 2 for each of {} texts", places.size(), n);
    for (size_t k = 0; k < n; ++k) {
      const int64_t at = indices.given() ? chosen[k] : static_cast<int64_t>(k);
      if (at < 0 || at >= static_cast<int64_t>(text.size()))
        bad_argument("index {} is not one of {} texts", at, text.size());
      const std::string& line = text[static_cast<size_t>(at)];
      const draw::Point p{pixel("positions", places[2 * k]), pixel("positions", places[2 * k + 1])};
      if (background.given()) {
        drawing.take(colors(s.index, image, background, "background").ink(static_cast<int64_t>(k), opaque));
        const draw::Point size = draw::text_extents(line, times);
        drawing.add(p.x, p.y, p.x + size.x, p.y + size.y);
      }
      drawing.take(inks.ink(static_cast<int64_t>(k), opaque));
      add_text(drawing, p, line, times);
    }
    draw::draw(image, out[0], std::move(drawing), to);
  }
};
PENSTOCK_OPERATOR(DrawText);

}  // namespace penstock
