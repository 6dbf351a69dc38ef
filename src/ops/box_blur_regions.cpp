// SPDX-License-Identifier: Apache-2.0
#include "families/window/box.h"
#include "ops/shared/box_rows.h"

namespace penstock {

struct BoxBlurRegions : ImageOperator {
  PerSample<std::vector<int64_t>> window_size = std::vector<int64_t>{15};
  std::string border_mode = "reflect_101", bbox_layout = "ltrb";
  bool bbox_normalized = false;

  static Schema<BoxBlurRegions> schema() {
    using Op = BoxBlurRegions;
    return Schema<Op>(
               "box_blur_regions",
               "Blurs images inside boxes, such as faces, and leaves the rest as it is.\n\nInputs: images; float32 "
               "boxes, (N, 4), whose edges are rounded to those between pixels. Inside a box a value becomes the mean "
               "of the square around it, as box_blur computes it, of the input: also of what is outside the box. "
               "Where boxes overlap, the last one counts. Layouts: HW, HWC, CHW, each also with a leading F, whose "
               "frames are blurred in the same boxes; the output keeps the layout. Types: integers of 8 and 16 bits, "
               "float16, float32.\n\nExample:\n>>> image = np.random.default_rng(0).integers(0, 256, (48, 64, 3), "
               "np.uint8)\n>>> result = fn.box_blur_regions(image, np.float32([[8, 8, 24, 30]]), window_size=9)")
        .inputs(2)
        .input_names({"images", "boxes"})
        .read_on_host({"boxes"})
        .arg("window_size", &Op::window_size,
             "The side of the square, from 1 to 2047: one number, or one for each box.")
        .arg("border_mode", &Op::border_mode,
             "The area outside the image: \"reflect_101\", \"reflect\", \"replicate\", or \"constant\": zeros.")
        .arg("bbox_layout", &Op::bbox_layout, "Meaning of the numbers of a box: ltrb (xyXY), xywh (xyWH) or cxcywh.")
        .arg("bbox_normalized", &Op::bbox_normalized, "True: boxes are in fractions of the image. False: in pixels.")
        .keeps_positions()
        .oracle("opencv");
  }
  Layout input_layout(const ValueType& in) const override {
    const bool boxes = in.dtype == DType::float32 && in.ndim == 2 && in.layout.empty();
    return boxes ? in.layout : check_image(in);
  }
  void ready() override {
    border_ = image_border("border_mode", border_mode);
    if (border_ == kBorderWrap) bad_argument("border_mode cannot be wrap: it would read far from a box");
    if (BoxLayout(bbox_layout).dims() != 2)
      bad_argument("bbox_layout must be ltrb, xywh or cxcywh, got '{}'", bbox_layout);
  }
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype != DType::none && !window::boxed(in[0].dtype))
      bad_type("expected integers of 8 or 16 bits, float16 or float32, got {}", name_of(in[0].dtype));
    check_box_type(in[1]);
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
    check_box_shape(in[1], 4);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const View image{in[0].data, in[0].dtype, out[0].layout, in[0].shape, in[0].strides};
    const std::vector<Region> regions = regions_of(s.index, image, in[1]);
    size_t bytes = 0;
    for (const Region& r : regions) bytes += 2 * bytes_of(cut(image, r.read));
    auto* memory = static_cast<char*>(bytes ? to.scratch(bytes) : nullptr);
    std::vector<View> read, blurred;
    for (const Region& r : regions)
      for (std::vector<View>* views : {&read, &blurred}) {
        View v = cut(image, r.read);
        v.strides = dense_strides(v.shape), v.data = memory;
        memory += bytes_of(v), views->push_back(v);
      }
    to.copy(image, out[0]);
    for (size_t k = 0; k < regions.size(); ++k) to.copy(cut(image, regions[k].read), read[k]);
    to.then();
    for (size_t k = 0; k < regions.size(); ++k) {
      const int64_t n = regions[k].window;
      window::box_window(read[k], blurred[k],
                         {image_extents(read[k].shape, read[k].layout), n, n, n / 2, n / 2, border_}, to);
    }
    for (size_t k = 0; k < regions.size(); ++k) {
      to.then();
      const Region& r = regions[k];
      Part inner = r.blur;
      for (int a = 0; a < 2; ++a) inner.low[a] -= r.read.low[a], inner.high[a] -= r.read.low[a];
      to.copy(cut(blurred[k], inner), cut(out[0], r.blur));
    }
  }

 private:
  struct Part {
    int64_t low[2], high[2];  // x, y
  };
  struct Region {
    Part blur, read;
    int64_t window;
  };
  static size_t bytes_of(const View& v) {  // aligned for all types
    return (static_cast<size_t>(v.volume()) * size_of(v.dtype) + 15) / 16 * 16;
  }
  static View cut(View v, const Part& p) {
    for (int a = 0; a < 2; ++a) {
      const int d = v.layout.find("WH"[a]);
      v.data = v.as<char>() + p.low[a] * v.strides[d] * static_cast<int64_t>(size_of(v.dtype));
      v.shape[d] = p.high[a] - p.low[a];
    }
    return v;
  }
  std::vector<Region> regions_of(int sample, const View& image, const View& rows) const {
    const ImageRule::Extents e = image_extents(image.shape, image.layout);
    const int64_t extent[2] = {e.width, e.height};
    const std::vector<BoxExtent> boxes = read_boxes(rows, BoxLayout(bbox_layout));
    const auto sizes = window_size.values(sample);
    if (sizes.size() != 1 && sizes.size() != boxes.size())
      bad_argument("window_size has {} numbers; expected 1, or {} for the boxes", sizes.size(), boxes.size());
    std::vector<Region> made;
    for (size_t k = 0; k < boxes.size(); ++k) {
      Region r{{}, {}, sizes[sizes.size() == 1 ? 0 : k]};
      if (r.window < 1 || r.window > 2047) bad_argument("window_size must be from 1 to 2047, got {}", r.window);
      for (int a = 0; a < 2; ++a) {
        const auto most = static_cast<double>(extent[a]), unit = bbox_normalized ? most : 1.0;
        const auto edge = [&](double v) {
          return static_cast<int64_t>(std::clamp(std::floor(v * unit + 0.5), 0.0, most));
        };
        r.blur.low[a] = edge(boxes[k].low[static_cast<size_t>(a)]);
        r.blur.high[a] = edge(boxes[k].high[static_cast<size_t>(a)]);
        if (boxes[k].high[static_cast<size_t>(a)] < boxes[k].low[static_cast<size_t>(a)])
          bad_argument("box {} of sample {} ends before it starts, read as '{}'", k, sample, bbox_layout);
        r.read.low[a] = std::max<int64_t>(0, r.blur.low[a] - r.window / 2);
        r.read.high[a] = std::min(extent[a], r.blur.high[a] + r.window / 2);
      }
      if (image.volume() > 0 && r.blur.low[0] < r.blur.high[0] && r.blur.low[1] < r.blur.high[1]) made.push_back(r);
    }
    return made;
  }
  int border_ = 0;
};
PENSTOCK_OPERATOR(BoxBlurRegions);

}  // namespace penstock
