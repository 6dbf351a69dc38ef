// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/box_rows.h"

namespace penstock {

struct BoxEncoder : WholeOperator {
  std::vector<float> anchors;
  float criteria = 0.5f, scale = 1.0f;
  bool offset = false;
  std::vector<float> means = {0, 0, 0, 0}, stds = {1, 1, 1, 1};

  static Schema<BoxEncoder> schema() {
    using Op = BoxEncoder;
    return Schema<Op>(
               "box_encoder",
               "Assigns boxes and their labels to anchors, as SSD does for training (Liu et al., 2016).\n\nEach box "
               "is assigned to the anchor that it overlaps most. Every other anchor gets the box that overlaps it "
               "most, if their intersection over union is larger than `criteria`; of equal boxes the last wins. "
               "Inputs: float32 boxes (left, top, right, bottom), (N, 4), and labels, (N) or (N, 1). Outputs for M "
               "anchors: (M, 4) float32 and (M) int32 labels. A row is (center x, center y, width, height) of the box "
               "that the anchor got, or with offset its offsets. An anchor without a box gives its own center and "
               "extents, and the label 0.\n\nExample:\n>>> boxes, labels = np.float32([[0.1, 0.2, 0.5, 0.6]]), "
               "np.int32([7])\n>>> offsets, classes = fn.box_encoder(boxes, labels, anchors=[0.1, 0.2, 0.5, 0.6, 0.6, "
               "0.6, 0.9, 0.9])\n>>> classes.tolist()\n[7, 0]")
        .inputs(2)
        .input_names({"boxes", "labels"})
        .outputs(2)
        .required("anchors", &Op::anchors, "The anchors, 4 numbers each: left, top, right, bottom.")
        .arg("criteria", &Op::criteria,
             "An anchor gets a box if their intersection over union is larger than this, "
             "or if the box overlaps no other anchor more.",
             within(0, 1))
        .arg("offset", &Op::offset,
             "Return offsets from the anchors: (center - anchor's center) / anchor's extent, then log(extent / "
             "anchor's extent). `means` are subtracted from them, and the results are divided by `stds`. An anchor "
             "without a box gives 0.")
        .arg("scale", &Op::scale,
             "Boxes and anchors are multiplied by this before the offsets are computed; the "
             "offsets are relative, so it changes only their rounding.")
        .arg("means", &Op::means, "4 numbers that are subtracted from the offsets: for x, y, width, height.")
        .arg("stds", &Op::stds, "4 numbers that the offsets are divided by; not 0.")
        .oracle("dali");
  }
  void ready() override {
    if (anchors.empty() || anchors.size() % 4 != 0)
      bad_argument("anchors must have 4 numbers each, got {} numbers", anchors.size());
    if (means.size() != 4 || stds.size() != 4)
      bad_argument("means and stds must have 4 numbers, got {} and {}", means.size(), stds.size());
    if (std::find(stds.begin(), stds.end(), 0.0f) != stds.end()) bad_argument("stds must not be 0");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_box_type(in[0]);
    if (in[1].dtype != DType::none && !is_integer(in[1].dtype))
      bad_type("labels must be integers, got {}", name_of(in[1].dtype));
    out[0] = {DType::float32, 2, {}}, out[1] = {DType::int32, 1, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    check_box_shape(in[0], 4);
    if (in[0].known() && in[1].known() && in[1].volume() != in[0][0])
      bad_argument("{} boxes do not match labels of shape {}", in[0][0], in[1].text());
    const auto m = static_cast<int64_t>(anchors.size() / 4);
    out[0] = {m, 4}, out[1] = {m};
  }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const override {
    const auto* boxes = in[0].as<float>();
    const int64_t n = in[0].shape[0], m = out[1].shape[0];
    for (int64_t i = 0; i < n; ++i)
      if (const float* b = boxes + 4 * i; !(b[2] >= b[0] && b[3] >= b[1]))
        bad_argument("box {} of sample {} is ({}, {}, {}, {}): read as 'ltrb', it ends before it starts", i, s.index,
                     b[0], b[1], b[2], b[3]);
    std::vector<int64_t> match(m, -1);
    std::vector<float> best(m, criteria);
    std::vector<int64_t> favorite(n);
    for (int64_t i = 0; i < n; ++i) {
      float highest = -1;
      for (int64_t j = 0; j < m; ++j) {
        const float v = overlap(boxes + 4 * i, anchors.data() + 4 * j);
        if (v >= highest) highest = v, favorite[i] = j;
        if (v > criteria && v >= best[j]) best[j] = v, match[j] = i;
      }
    }
    for (int64_t i = 0; i < n; ++i) match[favorite[i]] = i;
    for (int64_t j = 0; j < m; ++j) {
      const float* anchor = anchors.data() + 4 * j;
      encode(match[j] < 0 ? nullptr : boxes + 4 * match[j], anchor, out[0].as<float>() + 4 * j);
      out[1].as<int32_t>()[j] =
          match[j] < 0 ? 0 : stored<int32_t>(static_cast<double>(element_as_int(in[1], match[j])));
    }
  }

 private:
  // Intersection over union, in float32 as the threshold and the ties need it.
  static float overlap(const float* a, const float* b) {
    const float w = std::min(a[2], b[2]) - std::max(a[0], b[0]), h = std::min(a[3], b[3]) - std::max(a[1], b[1]);
    if (!(w > 0 && h > 0)) return 0;
    const float common = w * h;
    return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common);
  }
  void encode(const float* box, const float* anchor, float* out) const {
    for (int a = 0; a < 2; ++a) {
      const double extent = static_cast<double>(anchor[2 + a]) - anchor[a],
                   middle = (static_cast<double>(anchor[a]) + anchor[2 + a]) / 2;
      const double own = box ? static_cast<double>(box[2 + a]) - box[a] : extent;
      const double at = box ? (static_cast<double>(box[a]) + box[2 + a]) / 2 : middle;
      if (!offset) {
        out[a] = static_cast<float>(at), out[2 + a] = static_cast<float>(own);
      } else if (!box) {
        out[a] = out[2 + a] = 0;
      } else {
        out[a] = static_cast<float>(((at - middle) * scale / (extent * scale) - means[a]) / stds[a]);
        out[2 + a] = static_cast<float>((std::log(own * scale / (extent * scale)) - means[2 + a]) / stds[2 + a]);
      }
    }
  }
};
PENSTOCK_OPERATOR(BoxEncoder);

}  // namespace penstock
