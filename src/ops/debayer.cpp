// SPDX-License-Identifier: Apache-2.0
#include "families/window/mosaic.h"
#include "operator/image_work.h"

namespace penstock {

struct Debayer : WholeOperator {
  PerFrame<std::vector<int64_t>> blue_position;
  Optional<std::string> algorithm;

  static Schema<Debayer> schema() {
    using Op = Debayer;
    return Schema<Op>("debayer",
                      "Converts the raw image of a sensor with a Bayer filter to RGB.\n\nThe operator works as "
                      "OpenCV's cvtColor(..., COLOR_BAYER_...) does. Input layouts: HW, HWC with one channel, each "
                      "also with a leading F. Output: HWC with three channels, or one for gray. Types: uint8, uint16. "
                      "Height and width of the image are even.\n\n"
                      "Example:\n"
                      ">>> fn.debayer(np.zeros((48, 64), np.uint8), blue_position=[0, 0]).shape\n"
                      "(48, 64, 3)")
        .required("blue_position", &Op::blue_position,
                  "(y, x) of blue in the 2 x 2 pixels that start in the second row and column: (0, 0) is OpenCV's BG, "
                  "(0, 1) GB, (1, 0) GR, (1, 1) RG.")
        .arg("algorithm", &Op::algorithm,
             "\"bilinear_ocv\", the default; \"edgeaware_ocv\"; \"gray_ocv\": a gray image; \"default_npp\": the same "
             "as bilinear_ocv.")
        .oracle("dali, opencv");
  }
  void ready() override {
    if (!algorithm.given() || *algorithm == "bilinear_ocv" || *algorithm == "default_npp")
      algorithm_ = window::Mosaic::bilinear;
    else if (*algorithm == "edgeaware_ocv") algorithm_ = window::Mosaic::by_edges;
    else if (*algorithm == "gray_ocv") algorithm_ = window::Mosaic::gray;
    else bad_argument("algorithm must be \"bilinear_ocv\", \"edgeaware_ocv\" or \"gray_ocv\", got \"{}\"", *algorithm);
  }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const Layout layout = check_image(in[0]);
    if (in[0].dtype != DType::uint8 && in[0].dtype != DType::uint16 && in[0].dtype != DType::none)
      bad_type("expected uint8 or uint16, got {}", name_of(in[0].dtype));
    out[0] = in[0];
    if (layout.empty()) return;
    if (const std::string l = layout.str(); l != "HW" && l != "HWC" && l != "FHW" && l != "FHWC")
      bad_type("expected HW, HWC, FHW or FHWC, got '{}'", l);
    out[0].layout = layout.find('C') < 0 ? Layout(layout.str() + "C") : layout;
    out[0].ndim = out[0].layout.size();
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    const Layout layout = check_image(types[0]);
    const int64_t channels = algorithm_ == window::Mosaic::gray ? 1 : 3;
    out[0] = in[0];
    const int h = layout.find('H'), c = layout.find('C');
    if (c >= 0 && in[0][c] >= 0 && in[0][c] != 1) bad_argument("expected one channel, got {}", in[0][c]);
    for (int d : {h, h + 1})
      if (in[0][d] >= 0 && in[0][d] % 2 != 0) bad_argument("height and width must be even, got {}", in[0].text());
    if (c >= 0) out[0][c] = channels;
    else out[0].push_back(channels);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    each_frame(blue_position.frames(), in[0], out[0], [&](int64_t f, const View& from, const View& into) {
      const auto blue = blue_position[SampleFrame{s.index, f}];
      if (blue.size() != 2) bad_argument("blue_position must have 2 values, got {}", blue.size());
      for (const int64_t v : blue)
        if (v != 0 && v != 1) bad_argument("the values of blue_position must be 0 or 1, got {}", v);
      const ImageRule::Extents e = image_extents(into.shape, into.layout);
      window::mosaic_step(from, into,
                          {e.outer, e.height, e.width, static_cast<int32_t>(1 - blue[0]),
                           static_cast<int32_t>(1 - blue[1]), algorithm_},
                          to);
    });
  }

 private:
  window::Mosaic::Algorithm algorithm_ = window::Mosaic::bilinear;
};
PENSTOCK_OPERATOR(Debayer);

}  // namespace penstock
