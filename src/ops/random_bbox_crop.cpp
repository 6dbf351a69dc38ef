// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/box_window.h"

namespace penstock {

struct RandomBboxCrop : WholeOperator, BoxLabels, BoxWindow {
  Optional<std::string> bbox_layout;
  bool ltrb = true, output_bbox_indices = false;

  static Schema<RandomBboxCrop> schema() {
    using Op = RandomBboxCrop;
    return Schema<Op>("random_bbox_crop",
                      "Draws a window that fits the boxes of an image, and returns the boxes in it.\n\nThis is the "
                      "augmentation of SSD (Liu et al., 2016): windows are drawn until one overlaps the boxes by at "
                      "least a drawn threshold and keeps a box. Inputs: float32 boxes in fractions of the image, (N, "
                      "4) or (N, 6), and optionally labels. Outputs: the start and the extents of the window, (x, y[, "
                      "z]), float32, as slice takes them, in fractions of the image, or in pixels with crop_shape; "
                      "the boxes that remain, in fractions of the window and clipped to it, float32; with labels, the "
                      "labels of these boxes, int32. A box remains if its center is in the window, unless "
                      "bbox_prune_threshold is given.\n\nExample:\n>>> boxes, labels = np.float32([[0.1, 0.2, 0.5, "
                      "0.6]]), np.int32([1])\n>>> anchor, shape, boxes, labels = fn.random_bbox_crop(boxes, labels, "
                      "bbox_layout=\"xyXY\", thresholds=[0.3])")
        .arg("labels", &Op::labels, BoxLabels::kLabels)
        .arg("all_boxes_above_threshold", &Op::all_boxes_above_threshold,
             "True: all boxes must meet the threshold. False: one is enough.")
        .arg("allow_no_crop", &Op::allow_no_crop,
             "The whole image may be drawn instead of a threshold, with the same probability as each of them; not "
             "with crop_shape.")
        .arg("aspect_ratio", &Op::aspect_ratio,
             "Range of the window's width / height, or ranges for x/y, x/z, y/z; in pixels if input_shape is given, "
             "else in fractions of the image. If least and largest ratio are equal, the ratio takes precedence over "
             "scaling.")
        .arg("bbox_layout", &Op::bbox_layout,
             "Meaning of the numbers of a box: ltrb, xywh, cxcywh, or letters; default: xyXY or xyzXYZ.")
        .arg("bbox_prune_threshold", &Op::bbox_prune_threshold,
             "A box remains if at least this fraction of its area, and more than 0, is in the window; its center does "
             "not matter.")
        .arg("crop_shape", &Op::crop_shape,
             "The window's extents in pixels, in the order of shape_layout; needs "
             "input_shape.")
        .arg("input_shape", &Op::input_shape, "The image's extents in pixels, in the order of shape_layout.")
        .arg("ltrb", &Op::ltrb, "Deprecated: False is bbox_layout=\"xyWH\".")
        .arg("num_attempts", &Op::num_attempts,
             "Attempts to draw a window for one threshold before the next "
             "threshold is drawn.",
             at_least(1))
        .arg("output_bbox_indices", &Op::output_bbox_indices,
             "Add an output: the indices of the boxes that remain, int32.")
        .arg("quiet", &Op::quiet, "Do not warn if no window reaches its threshold.")
        .arg("scaling", &Op::scaling, "Range of the window's extents, in fractions of the image.")
        .arg("shape_layout", &Op::shape_layout, "Meaning of the numbers of shapes; default: WH or WHD.")
        .arg("threshold_type", &Op::threshold_type,
             "iou: the area that box and window share, divided by the area of their union; overlap: divided by the "
             "area of the box.")
        .arg("thresholds", &Op::thresholds,
             "Minimum overlaps. One of them is drawn, and again after every "
             "num_attempts attempts.")
        .arg("total_num_attempts", &Op::total_num_attempts,
             "Attempts in total; after them the window with the largest overlap is used. Negative: an error after "
             "1,000,000 attempts.")
        .argument_inputs({"labels"})
        .input_names({"boxes"})
        .read_on_host({"boxes"})
        .outputs(3)
        .batch_wide()
        .random()
        .oracle("dali");
  }
  int count_outputs() const override { return 3 + labels.given() + output_bbox_indices; }
  void ready() override {
    check_box_window();
    if (crop_shape.given() && (scaling != std::vector<float>{1, 1} || aspect_ratio != std::vector<float>{1, 1}))
      bad_argument("crop_shape and scaling or aspect_ratio are mutually exclusive");
    if (bbox_layout.given()) BoxLayout{*bbox_layout};
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_box_type(in[0]);
    out[0] = out[1] = {DType::float32, 1, {}};
    out[2] = {DType::float32, 2, in[0].layout};
    if (labels.given()) out[3] = label_type();
    if (output_bbox_indices) out[count_outputs() - 1] = {DType::int32, 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    const int64_t numbers = in[0][1] >= 0         ? in[0][1]
                            : bbox_layout.given() ? static_cast<int64_t>(bbox_layout->size())
                                                  : -1;
    if (numbers >= 0) layout_of(numbers);
    const auto* values = static_cast<const std::span<const Batch>*>(s.batch_state);
    const int64_t stay = values ? static_cast<int64_t>(found(s, (*values)[0].view(s.index)).rows.size()) : -1;
    out[0] = out[1] = {numbers < 0 ? -1 : numbers / 2};
    out[2] = {stay, numbers};
    if (labels.given())
      out[3] = values ? label_shape(s.index, stay) : Shape::filled(std::max(label_type().ndim, 1), -1);
    if (output_bbox_indices) out[count_outputs() - 1] = {stay};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const Found f = found(s, in[0]);
    const BoxLayout layout = layout_of(in[0].shape[1]);
    std::vector<float> begin, extents;
    for (int a = 0; a < layout.dims(); ++a) {
      const double low = f.window.low[a], high = f.window.high[a];
      begin.push_back(static_cast<float>(f.pixels.empty() ? low : static_cast<double>(f.pixels[a])));
      extents.push_back(static_cast<float>(
          f.pixels.empty() ? high - low
                           : static_cast<double>(pixels_of(crop_shape, "crop_shape", s.index, layout.dims())[a])));
    }
    give_numbers(out[0], begin, to), give_numbers(out[1], extents, to);
    give_numbers(out[2], rows_of(f.boxes, layout), to);
    if (labels.given()) give_numbers(out[3], labels_of(s.index, in[0].shape[0], f.rows), to);
    if (output_bbox_indices) give_numbers(out.back(), std::vector<int32_t>(f.rows.begin(), f.rows.end()), to);
  }

 private:
  BoxLayout layout_of(int64_t numbers) const {
    if (numbers != 4 && numbers != 6) bad_argument("boxes must have 4 or 6 numbers each, got {}", numbers);
    const std::string flat = ltrb ? "xyXY" : "xyWH", solid = ltrb ? "xyzXYZ" : "xyzWHD";
    const BoxLayout layout(bbox_layout.given() ? *bbox_layout : numbers == 4 ? flat : solid);
    if (2 * layout.dims() != numbers)
      bad_argument("bbox_layout '{}' does not fit boxes of {} numbers", *bbox_layout, numbers);
    return layout;
  }
  Found found(const SampleContext& s, const View& in) const {
    const BoxLayout layout = layout_of(in.shape[1]);
    const std::vector<BoxExtent> boxes = read_boxes(in, layout);
    for (size_t i = 0; i < boxes.size(); ++i)
      check_box(boxes[i], layout, nullptr, static_cast<int64_t>(i), s.index, kDalisBoxSlack);
    return find(s, boxes, layout.dims());
  }
};
PENSTOCK_OPERATOR(RandomBboxCrop);

}  // namespace penstock
