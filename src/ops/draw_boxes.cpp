// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/box_rows.h"
#include "ops/shared/drawn.h"

namespace penstock {

struct DrawBoxes : DrawOperator {
  std::string bbox_layout = "ltrb";
  bool bbox_normalized = false;
  PerSample<int> thickness = 1;
  PerSample<float> fill_opacity = 0.0f;
  Optional<std::vector<std::string>> names;
  PerSample<int> text_scale = 1;

  static Schema<DrawBoxes> schema() {
    using Op = DrawBoxes;
    return Schema<Op>(
               "draw_boxes",
               std::string(
                   "Draws boxes over images, with the names of their labels if they are given.\n\nInputs: images; "
                   "float32 boxes, (N, 4); optionally integer labels, (N). Corners are rounded to the nearest "
                   "pixel and belong to the box; its outline has the pixels of OpenCV's cv2.rectangle. With "
                   "labels a box has the color of its label, else boxes take turns. Names are written above "
                   "their boxes, below the upper edge where there is no room, black or white on the color. ") +
                   kDrawnImages +
                   "\n\nExample:\n>>> image, boxes = np.zeros((48, 64, 3), np.uint8), np.float32([[8, 20, 50, 40]])\n"
                   ">>> result = fn.draw_boxes(image, boxes, np.int32([1]), names=[\"cat\", \"dog\"], color=[255, 0, "
                   "0, "
                   "0, 255, 0])")
        .inputs(2, 3)
        .input_names({"images", "boxes", "labels"})
        .read_on_host({"boxes", "labels"})
        .arg("thickness", &Op::thickness, "Of the outline, in pixels, from 1 to 255; 0: no outline.")
        .arg("fill_opacity", &Op::fill_opacity, "How opaque the area of a box is covered with its color, from 0 to 1.")
        .arg("names", &Op::names, "The names of the labels 0, 1, ...; a label without a name is written as a number.")
        .arg("text_scale", &Op::text_scale,
             "A pixel of the font becomes so many pixels in both directions, from 1 to 64.")
        .arg("bbox_layout", &Op::bbox_layout, "Meaning of the numbers of a box: ltrb (xyXY), xywh (xyWH) or cxcywh.")
        .arg("bbox_normalized", &Op::bbox_normalized, "True: boxes are in fractions of the image. False: in pixels.")
        .with(&draw_arguments<Op>);
  }
  Layout input_layout(const ValueType& in) const override {
    return in.dtype == DType::uint8 && in.ndim > 1 ? check_image(in) : in.layout;
  }
  void ready() override {
    if (BoxLayout(bbox_layout).dims() != 2)
      bad_argument("bbox_layout must be ltrb, xywh or cxcywh, got '{}'", bbox_layout);
  }
  void check(std::span<const ValueType> in) override {
    DrawOperator::check(in);
    check_box_type(in[1]);
    if (in.size() > 2 && in[2].dtype != DType::none && !is_integer(in[2].dtype))
      bad_type("labels must be integers, got {}", name_of(in[2].dtype));
    if (names.given() && in.size() < 3) bad_argument("names need labels, the third input");
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
    check_box_shape(in[1], 4);
    if (in.size() > 2 && in[1].known() && in[2].known() && in[2].volume() != in[1][0])
      bad_argument("{} boxes do not match labels of shape {}", in[1][0], in[2].text());
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    auto [image, drawing, inks, opaque] = begin(s, in[0], out[0]);
    const int32_t filled = opacity_of("fill_opacity", fill_opacity[s.index]);
    const int64_t thick = within_limits("thickness", thickness[s.index], 0, draw::kMostThick);
    const int64_t scale = within_limits("text_scale", text_scale[s.index], 1, draw::kMostScale);
    const double unit[2] = {bbox_normalized ? static_cast<double>(drawing.width()) : 1,
                            bbox_normalized ? static_cast<double>(drawing.height()) : 1};
    const std::vector<BoxExtent> boxes = read_boxes(in[1], BoxLayout(bbox_layout));
    for (size_t k = 0; k < boxes.size(); ++k) {
      const BoxExtent& b = boxes[k];
      const draw::Point low{pixel("boxes", b.low[0] * unit[0]), pixel("boxes", b.low[1] * unit[1])};
      const draw::Point high{pixel("boxes", b.high[0] * unit[0]), pixel("boxes", b.high[1] * unit[1])};
      if (high.x < low.x || high.y < low.y)
        bad_argument("box {} of sample {} ends before it starts, read as '{}'", k, s.index, bbox_layout);
      const int64_t label = in.size() > 2 ? element_as_int(in[2], static_cast<int64_t>(k)) : static_cast<int64_t>(k);
      const int64_t turn = label < 0 ? -(label + 1) : label;
      drawing.take(inks.ink(turn, filled));
      drawing.add(low.x, low.y, high.x + 1, high.y + 1);
      drawing.take(inks.ink(turn, opaque));
      if (thick > 0) add_box(drawing, low, high, thick);
      if (names.given()) add_name(drawing, low, label, thick, scale, inks);
    }
    draw::draw(image, out[0], std::move(drawing), to);
  }

 private:
  void add_name(draw::Drawing& drawing, draw::Point low, int64_t label, int64_t thick, int64_t scale,
                const Colors& inks) const {
    const draw::Ink ink = drawing.inks().back();
    const bool named = label >= 0 && label < static_cast<int64_t>(names->size());
    const std::string text = named ? (*names)[static_cast<size_t>(label)] : std::to_string(label);
    const draw::Point size = draw::text_extents(text, scale);
    const int64_t edge = thick > 1 ? (thick + 1) / 2 : 0;
    const draw::Point at{low.x - edge, low.y - edge - size.y < 0 ? low.y + edge + 1 : low.y - edge - size.y};
    drawing.add(at.x, at.y, at.x + size.x, at.y + size.y);
    // The luma of BT.601, where there are three channels.
    const bool light = (inks.channels < 3 ? 1000 * ink.color[0]
                                          : 299 * ink.color[0] + 587 * ink.color[1] + 114 * ink.color[2]) > 127500;
    draw::Ink letters{{}, ink.opacity};
    std::fill(std::begin(letters.color), std::end(letters.color), light ? 0 : 255);
    letters.color[3] = ink.color[3];
    drawing.take(letters);
    draw::add_text(drawing, at, text, scale);
  }
};
PENSTOCK_OPERATOR(DrawBoxes);

}  // namespace penstock
