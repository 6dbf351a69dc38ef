// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/shared/box_rows.h"
#include "ops/shared/kept_boxes.h"

namespace penstock {

struct Nms : WholeOperator {
  PerSample<double> iou_threshold = 0.5;
  PerSample<float> score_threshold;
  PerSample<int> max_detections;
  std::string iou_type = "iou", bbox_layout = "ltrb";
  Optional<std::string> soft;
  float sigma = 0.5f;
  bool output_mask = false;

  static Schema<Nms> schema() {
    using Op = Nms;
    return Schema<Op>(
               "nms",
               "Keeps the boxes of the highest scores and drops those that overlap them (non-maximum "
               "suppression).\n\nInputs: float32 boxes, (N, 4); float32 scores, (N), or (N, C) with a score for each "
               "of C classes; optionally integer labels, (N). Boxes in the order of their scores, of equal scores the "
               "first one first, are kept unless they overlap a kept box of the same label or class by more than "
               "iou_threshold. Overlaps are computed in float32. A score that is NaN, or not above score_threshold, "
               "drops its box; a box that has a NaN overlaps none.\n\nOutput: the rows of the kept boxes in the order "
               "of their scores, (K) int32; for scores (N, C) pairs of a row and a class, (K, 2). With output_mask a "
               "uint8 mask of the shape of the scores, 1 where a box is kept. With soft a second output has the "
               "scores that are left, float32: (K), or of the mask's shape with 0 for dropped boxes.\n\nExample:\n"
               ">>> boxes = np.float32([[0, 0, 10, 10], [1, 1, 10, 10], [20, 20, 30, 30]])\n"
               ">>> fn.nms(boxes, np.float32([0.8, 0.9, 0.3]), iou_threshold=0.5).tolist()\n"
               "[1, 2]")
        .inputs(2, 3)
        .input_names({"boxes", "scores", "labels"})
        .arg("iou_threshold", &Op::iou_threshold,
             "A box is dropped if it overlaps a kept one by more. With soft=\"linear\" its score decays instead.",
             within(-1, 1))
        .arg("score_threshold", &Op::score_threshold,
             "Boxes must have a score above this, with soft also after it has decayed; default: any.")
        .arg("max_detections", &Op::max_detections, "Keep at most so many boxes of a sample; default: all.",
             at_least(1))
        .arg("iou_type", &Op::iou_type,
             "What overlaps are: \"iou\", intersection over union; \"giou\", less the part of the box around both "
             "that neither covers; \"diou\", less the squared distance of the centers in squared diagonals of that "
             "box.")
        .arg("soft", &Op::soft,
             "Scores decay instead: \"linear\" multiplies them by 1 - overlap where that is more than iou_threshold, "
             "\"gaussian\" by exp(-overlap^2 / sigma). Boxes are kept in the order of what is left.")
        .arg("sigma", &Op::sigma, "How slowly scores decay with soft=\"gaussian\".", above(0))
        .arg("bbox_layout", &Op::bbox_layout, "Meaning of the numbers of a box: ltrb (xyXY), xywh (xyWH) or cxcywh.")
        .arg("output_mask", &Op::output_mask, "Return a mask instead of rows.")
        .batch_wide()
        .oracle("numpy");
  }
  int count_outputs() const override { return soft.given() ? 2 : 1; }
  void ready() override {
    if (iou_type != "iou" && iou_type != "giou" && iou_type != "diou")
      bad_argument("iou_type must be iou, giou or diou, got '{}'", iou_type);
    if (soft.given() && *soft != "linear" && *soft != "gaussian")
      bad_argument("soft must be linear or gaussian, got '{}'", *soft);
    if (BoxLayout(bbox_layout).dims() != 2)
      bad_argument("bbox_layout must be ltrb, xywh or cxcywh, got '{}'", bbox_layout);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_box_type(in[0]);
    if (in[1].dtype != DType::none && in[1].dtype != DType::float32)
      bad_type("scores must be float32, got {}", name_of(in[1].dtype));
    if (in.size() > 2 && in[2].dtype != DType::none && !is_integer(in[2].dtype))
      bad_type("labels must be integers, got {}", name_of(in[2].dtype));
    if (in[1].ndim >= 0 && in[1].ndim != 1 && in[1].ndim != 2)
      bad_type("scores must have the shape (N) or (N, C), got {} dimensions", in[1].ndim);
    if (in.size() > 2 && in[1].ndim == 2)
      bad_type("scores of each class, (N, C), go without labels: the class is the label");
    out[0] = {output_mask ? DType::uint8 : DType::int32, in[1].ndim, {}};
    if (soft.given()) out[1] = {DType::float32, output_mask ? in[1].ndim : 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    check_rows(in);
    const int64_t kept = measured(s) ? measured(s)[0] : -1;
    out[0] = output_mask ? in[1] : in[1].size() == 2 ? Shape{kept, 2} : Shape{kept};
    if (soft.given()) out[1] = output_mask ? in[1] : Shape{kept};
  }
  void measure(const SampleContext& s, std::span<const View> in, SampleWork& to, int64_t* numbers) const override {
    check_rows(std::array{in[0].shape, in[1].shape, in.size() > 2 ? in[2].shape : Shape{in[0].shape[0]}});
    const SuppressionCoef c = coef(s.index, in);
    if (c.sizes.candidates == 0) return;
    const View labels = in.size() > 2 ? in[2] : View{nullptr, DType::int32, {}, {}, {}};
    const BoxCandidates from{in[0].as<const float>(), in[1].as<const float>(), labels};
    to.at_once() ? keep_here(from, c, to, numbers) : keep_there(from, c, to, numbers);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    if (output_mask) {
      for (const View& v : out)
        if (v.volume() > 0) to.fill(v, {{0.0f}, {}});
      to.then();
    }
    const int64_t count = measured(s)[0];
    if (count == 0) return;
    const int64_t candidates = in[1].volume();
    const auto* const kept = reinterpret_cast<const int32_t*>(measured(s)[1]);
    const void* const scores = kept + candidates;
    run_team<KeptResult>({.in = {kept, scores}, .out = {out[0].data, soft.given() ? out[1].data : nullptr}},
                         {count, in[1].shape.size() == 2 ? in[1].shape[1] : 1, output_mask, in[1].shape.size() == 2},
                         to);
  }

 private:
  static void check_rows(std::span<const Shape> in) {
    check_box_shape(in[0], 4);
    for (size_t k = 1; k < in.size(); ++k)
      if (in[0].known() && in[k].known() && in[k][0] != in[0][0])
        bad_argument("{} boxes do not match {} of shape {}", in[0][0], k == 1 ? "scores" : "labels", in[k].text());
  }
  SuppressionCoef coef(int sample, std::span<const View> in) const {
    SuppressionCoef c{};
    c.sizes.candidates = in[1].volume();
    if (c.sizes.candidates > INT32_MAX) bad_argument("{} scores are more than 2^31", c.sizes.candidates);
    constexpr int64_t kWords = 1 << 20;  // of the matrix at a time
    const int64_t words = std::max<int64_t>(1, c.sizes.words());
    c.sizes.rows = soft.given() ? 64 : std::clamp<int64_t>(kWords / words / 64, 1, words) * 64;
    c.classes = in[1].shape.size() == 2 ? in[1].shape[1] : 1;
    c.most = max_detections.given() ? max_detections[sample] : INT32_MAX;
    if (c.most < 1) bad_argument("max_detections must be at least 1, got {}", c.most);
    c.form = BoxLayout(bbox_layout).form();
    c.limited = score_threshold.given();
    if (c.limited) c.score_threshold = score_threshold[sample];
    c.overlap_threshold = not_above(iou_threshold[sample]);
    c.sigma = sigma;
    c.kind = iou_type == "iou" ? kIou : iou_type == "giou" ? kGiou : kDiou;
    c.decay = !soft.given() ? 0 : *soft == "linear" ? 1 : 2;
    c.labeled = in.size() > 2;
    return c;
  }
  // A float32 is more than v if it is more than this one.
  static float not_above(double v) {
    if (!(v >= -1 && v <= 1)) bad_argument("iou_threshold must be from -1 to 1, got {}", v);
    const auto near = static_cast<float>(v);
    return static_cast<double>(near) > v ? std::nextafter(near, -2.0f) : near;
  }
};
PENSTOCK_OPERATOR(Nms);

}  // namespace penstock
