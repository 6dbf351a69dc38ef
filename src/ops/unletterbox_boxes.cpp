// SPDX-License-Identifier: Apache-2.0
#include "operator/image_work.h"

namespace penstock {

struct UnletterboxBoxes : WholeOperator {
  std::string bbox_layout = "ltrb";
  bool clip = true;

  static Schema<UnletterboxBoxes> schema() {
    using Op = UnletterboxBoxes;
    return Schema<Op>("unletterbox_boxes",
                      "Moves boxes from the frame of a letterbox back to the image.\n\nInputs: boxes (N, 4), float32, "
                      "in pixels of the frame; the sample's row of letterbox_placement. Output: as many boxes, in "
                      "pixels of the image.\n\n"
                      "Example:\n"
                      ">>> row = fn.letterbox_placement(np.int32([48, 64]), size=96)\n"
                      ">>> fn.unletterbox_boxes(np.float32([[0, 12, 96, 90]]), row).tolist()\n"
                      "[[0.0, 0.0, 64.0, 48.0]]")
        .inputs(2)
        .input_names({"boxes", "placement"})
        .arg("bbox_layout", &Op::bbox_layout, "Meaning of the numbers of a box: ltrb, xywh or cxcywh.")
        .arg("clip", &Op::clip, "Cut boxes to the image.")
        .oracle("numpy");
  }
  void ready() override {
    if (bbox_layout != "ltrb" && bbox_layout != "xywh" && bbox_layout != "cxcywh")
      bad_argument("bbox_layout must be ltrb, xywh or cxcywh, got '{}'", bbox_layout);
  }
  void check(std::span<const ValueType> in) override {
    for (const ValueType& t : in)
      if (t.dtype != DType::none && t.dtype != DType::float32)
        bad_type("expected boxes and a placement of float32, got {}", name_of(t.dtype));
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = {DType::float32, 2, in[0].layout};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    if (in[0].size() != 2 || (in[0][1] >= 0 && in[0][1] != 4))
      bad_argument("expected boxes of the shape (N, 4), got {}", in[0].text());
    if (in[1].size() != 1 || (in[1][0] >= 0 && in[1][0] != 5))
      bad_argument("expected the 5 numbers of letterbox_placement, got the shape {}", in[1].text());
    out[0] = in[0];
  }

  struct Rule : ImageRule {
    PENSTOCK_PIXEL(
        struct Coef {
          Extents out;
          const float* placement;
          int32_t centered;
          int32_t extents;
          int64_t clip;
        };
        template <class Out, class In>
        PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
          const In* const box = in + p.y * 4;
          const int axis = p.x & 1;
          const float border = c.placement[1 + axis];
          const float size = c.placement[3 + axis];
          const float scale = c.placement[0];
          float low = static_cast<float>(box[axis]);
          float high = static_cast<float>(box[2 + axis]);
          if (c.centered) low = low - high / 2;
          if (c.extents) high = low + high;
          low = (low - border) / scale;
          high = (high - border) / scale;
          if (c.clip) {
            low = clamp(low, 0.0f, size);
            high = clamp(high, 0.0f, size);
          }
          const bool first = p.x < 2;
          return stored<Out>(c.centered && first ? (low + high) / 2 : first ? low : c.extents ? high - low : high);
        });
  };
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    if (out[0].volume() == 0) return;
    const Rule::Coef coef{
        {1, 1, in[0].shape[0], 4, 1}, in[1].as<const float>(), bbox_layout == "cxcywh", bbox_layout != "ltrb", clip};
    const auto host = [coef, from = in[0], into = out[0]] {
      run_image_rule<Rule>(from.as<const float>(), into.as<float>(), coef, nullptr);
    };
    to.map(in[0], out[0], {&image_rule_text<Rule>, coef_bytes_of(coef), nullptr, nullptr, host});
  }
};
PENSTOCK_OPERATOR(UnletterboxBoxes);

}  // namespace penstock
