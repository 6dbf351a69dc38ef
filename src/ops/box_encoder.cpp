// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/box_encoding.h"
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
        .float64("offsets are small differences of centers, of which float32 would keep few digits")
        .oracle("dali");
  }
  void ready() override {
    if (anchors.empty() || anchors.size() % 4 != 0)
      bad_argument("anchors must have 4 numbers each, got {} numbers", anchors.size());
    if (means.size() != 4 || stds.size() != 4)
      bad_argument("means and stds must have 4 numbers, got {} and {}", means.size(), stds.size());
    if (std::find(stds.begin(), stds.end(), 0.0f) != stds.end()) bad_argument("stds must not be 0");
    table_ = team_table(std::span<const float>(anchors));
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
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    BoxEncoding::Coef c{in[0].shape[0], out[1].shape[0], criteria, scale, offset, 0, {}, {}};
    std::copy(means.begin(), means.end(), c.means), std::copy(stds.begin(), stds.end(), c.stds);
    const auto refused = [sample = s.index](const Refusal& r) {
      bad_argument("box {} of sample {} is ({}, {}, {}, {}): read as 'ltrb', it ends before it starts", r.whole[0],
                   sample, r.real[0], r.real[1], r.real[2], r.real[3]);
    };
    const size_t favorites = static_cast<size_t>(c.boxes) * sizeof(int64_t);
    void* const kept = to.scratch(favorites + static_cast<size_t>(c.anchors) * sizeof(float));
    run_team<BoxEncoding>({.in = {in[0].data, in[1].data},
                           .out = {out[0].data, out[1].data, kept},
                           .type = in[1].dtype,
                           .table = table_,
                           .refused = refused},
                          c, to);
  }

 private:
  TeamTable table_;
};
PENSTOCK_OPERATOR(BoxEncoder);

}  // namespace penstock
