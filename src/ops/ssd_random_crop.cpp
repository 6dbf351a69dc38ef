// SPDX-License-Identifier: Apache-2.0
#include "batch/view_part.h"
#include "families/team/team.h"
#include "ops/shared/box_window.h"
#include "operator/image_layout.h"

namespace penstock {

struct SsdRandomCrop : WholeOperator {
  int num_attempts = 1;

  static Schema<SsdRandomCrop> schema() {
    using Op = SsdRandomCrop;
    return Schema<Op>("ssd_random_crop",
                      "Draws a random window of an image with boxes, for the training of SSD detectors.\n\nThe window "
                      "is drawn as in random_bbox_crop. Inputs: images HWC of any type; boxes (n, 4), float32, left, "
                      "top, right, bottom from 0 to 1; labels (n) or (n, 1), int32. Outputs: the window of the image; "
                      "the boxes whose center is in the window, in fractions of it; their labels. The extents of the "
                      "window are 0.3 to 1 of the image's, its aspect ratio is 0.5 to 2, and all boxes overlap it by "
                      "a drawn ratio of 0, 0.1, 0.3, 0.5, 0.7 or 0.9; or the window is the whole image. Source: W. "
                      "Liu et al., \"SSD: Single Shot MultiBox Detector\", 2016.\n\nExample:\n>>> image = "
                      "np.zeros((300, 300, 3), np.uint8)\n>>> boxes, labels = np.float32([[0.1, 0.2, 0.5, 0.6]]), "
                      "np.int32([1])\n>>> image, boxes, labels = fn.ssd_random_crop(image, boxes, labels)")
        .inputs(3)
        .input_names({"images", "boxes", "labels"})
        .read_on_host({"boxes", "labels"})
        .arg("num_attempts", &Op::num_attempts,
             "Attempts to draw a window for one ratio before the next ratio is "
             "drawn.",
             at_least(1))
        .outputs(3)
        .batch_wide()
        .random()
        .oracle("dali");
  }
  void ready() override {
    window_.aspect_ratio = {0.5f, 2.0f}, window_.scaling = {0.3f, 1.0f};
    window_.thresholds = {0.0f, 0.1f, 0.3f, 0.5f, 0.7f, 0.9f};
    window_.num_attempts = num_attempts;
    window_.quiet = true;
    window_.check_box_window();
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].ndim >= 0 && image_layout(in[0]) != Layout("HWC"))
      bad_type("expected HWC, got '{}'", image_layout(in[0]).str());
    check_box_type(in[1]);
    if (in[2].dtype != DType::int32 && in[2].dtype != DType::none)
      bad_type("labels must be int32, got {}", name_of(in[2].dtype));
    for (int k = 0; k < 3; ++k) out[k] = in[k];
    out[0].layout = image_layout(in[0]);
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    for (int k = 0; k < 3; ++k) out[k] = in[k];
    check_box_shape(in[1], 4);
    if (in[2].size() < 1 || (in[2][0] >= 0 && in[1][0] >= 0 && in[2][0] != in[1][0]))
      bad_argument("{} boxes do not match labels of shape {}", in[1][0], in[2].text());
    const auto* values = static_cast<const std::span<const Batch>*>(s.batch_state);
    if (!values) {
      out[0][0] = out[0][1] = out[1][0] = out[2][0] = -1;
      return;
    }
    const Region r = region(s, in[0], (*values)[1].view(s.index));
    out[0][0] = r.high[1] - r.low[1], out[0][1] = r.high[0] - r.low[0];
    out[1][0] = out[2][0] = static_cast<int64_t>(r.found.rows.size());
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const Region r = region(s, in[0].shape, in[1]);
    const View rows = part(in[0], 0, r.low[1], r.high[1] - r.low[1]);
    to.copy(part(rows, 1, r.low[0], r.high[0] - r.low[0]), out[0]);
    const int64_t width = in[2].shape[0] > 0 ? in[2].volume() / in[2].shape[0] : 1;
    std::vector<int32_t> labels;
    for (const int64_t i : r.found.rows) {
      const auto* own = in[2].as<const int32_t>() + i * width;
      labels.insert(labels.end(), own, own + width);
    }
    give_numbers(out[1], rows_of(r.found.boxes, BoxLayout("xyXY")), to), give_numbers(out[2], labels, to);
  }

 private:
  struct Region {
    BoxWindow::Found found;
    int64_t low[2], high[2];  // x, y in pixels
  };
  Region region(const SampleContext& s, const Shape& image, const View& boxes) const {
    const std::vector<BoxExtent> read = read_boxes(boxes, BoxLayout("xyXY"));
    for (size_t i = 0; i < read.size(); ++i)
      check_box(read[i], BoxLayout("ltrb"), nullptr, static_cast<int64_t>(i), s.index, kDalisBoxSlack);
    Region r{window_.find(s, read, 2), {}, {}};
    for (int a = 0; a < 2; ++a) {
      const auto n = static_cast<double>(image[1 - a]);
      r.low[a] = static_cast<int64_t>(r.found.window.low[a] * n);
      r.high[a] = std::max(r.low[a], static_cast<int64_t>(r.found.window.high[a] * n));
    }
    return r;
  }
  BoxWindow window_;
};
PENSTOCK_OPERATOR(SsdRandomCrop);

}  // namespace penstock
