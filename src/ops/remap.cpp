// SPDX-License-Identifier: Apache-2.0
#include "operator/any_number.h"
#include "ops/shared/remap_rules.h"
#include "ops/shared/sampling.h"

namespace penstock {

struct Remap : WholeOperator {
  int interp = 1;
  std::string pixel_origin = "corner", border_mode = "constant";
  float fill_value = 0.0f;
  bool normalized = false, relative = false;

  static Schema<Remap> schema() {
    using Op = Remap;
    return Schema<Op>("remap",
                      "Moves pixels by two maps: output (x, y) is the input at (mapx(x, y), mapy(x, y)).\n\nInputs: "
                      "the images; two maps of float32, (height, width) of the output, with a leading F one for each "
                      "frame. INTERP_NN copies pixels. Sums of uint8, int8, bool, float16 and float32 are in float32, "
                      "those of other types in float64; the weights of cubic interpolation have a = -0.75, as "
                      "OpenCV's. Layouts: HWC, FHWC, HW, FHW; the output keeps the layout. Types: "
                      "all.\n\nExample:\n>>> image = "
                      "np.zeros((48, 64, 3), np.uint8)\n>>> y, x = np.mgrid[0:48, 0:64].astype(np.float32)\n>>> "
                      "result = fn.remap(image, x, y, pixel_origin=\"center\")")
        .inputs(3)
        .input_names({"data", "mapx", "mapy"})
        .arg("interp", &Op::interp, "The interpolation: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC.")
        .arg("pixel_origin", &Op::pixel_origin,
             "The position (0, 0): \"corner\" or \"center\" (as in OpenCV) of the first pixel.")
        .arg("border_mode", &Op::border_mode,
             "The area outside the image: \"constant\", \"replicate\", \"reflect\", \"reflect_101\", \"wrap\".")
        .arg("fill_value", &Op::fill_value, "The value of a \"constant\" border.", any_number)
        .arg("normalized", &Op::normalized,
             "Maps go from -1 to 1: from the first to the last corner or, with pixel_origin \"center\", from the first "
             "to the last pixel center.")
        .arg(
            "relative", &Op::relative,
            "Maps are distances: output (x, y) is the input at (x + mapx(x, y), y + mapy(x, y)). With normalized, 1 is "
            "half of the image's extent.")
        .float64(gather::kWhyFloat64)
        .reads_images()
        .oracle("opencv");
  }
  void ready() override {
    border_ = image_border("border_mode", border_mode);
    sampling_kind("interp", interp);
    shift_ = pixel_shift(pixel_origin);
  }
  Layout input_layout(const ValueType& in) const override { return in.layout; }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    out[0].layout = check_image(in[0]);
    const Layout& l = out[0].layout;
    if (const int c = l.find('C'); c >= 0 && c < l.find('H')) bad_type("expected channels last, got '{}'", l.str());
    for (int k : {1, 2})
      if (in[k].dtype != DType::float32 && in[k].dtype != DType::none)
        bad_type("maps must be float32, got {}", name_of(in[k].dtype));
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    out[0] = in[0];
    const int h = check_image(types[0]).find('H');
    const Extent map = extent(in[1], types[1].layout);
    out[0][h] = map.height, out[0][h + 1] = map.width;
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const Extent map = extent(in[1].shape, in[1].layout), other = extent(in[2].shape, in[2].layout);
    if (map.height != other.height || map.width != other.width || map.frames != other.frames)
      bad_argument("the maps have different shapes {} and {}", in[1].shape.text(), in[2].shape.text());
    View from = in[0];
    from.layout = out[0].layout;
    const ImageRule::Extents e = image_extents(from.shape, from.layout);
    if (map.frames > 0 && map.frames != e.outer) bad_argument("{} maps do not match {} frames", map.frames, e.outer);
    const double less = shift_ == 0 ? 1 : 0;
    const int64_t step = map.frames > 0 ? map.height * map.width : 0;
    Maps::Coef c{in[1].as<const float>(),
                 in[2].as<const float>(),
                 step,
                 static_cast<int32_t>(map.width),
                 static_cast<float>((static_cast<double>(e.width) - less) * 0.5),
                 static_cast<float>((static_cast<double>(e.height) - less) * 0.5),
                 static_cast<float>(shift_)};
    if (relative && !normalized) c.half_width = c.half_height = 1;
    const bool split = e.depth != 1 && map.frames > 0;  // the images of a frame have one map
    if (split) c.map_step = 0;
    const gather::Sampling how{static_cast<gather::Filter>(interp), static_cast<gather::Border>(border_), fill_value};
    each_frame(split, from, out[0], [&](int64_t, const View& frame, const View& made) {
      if (relative) gather::sample<RelativeRemapRule>(frame, made, c, how, to);
      else if (normalized) gather::sample<NormalizedRemapRule>(frame, made, c, how, to);
      else gather::sample<RemapRule>(frame, made, c, how, to);
      if (split) c.x += step, c.y += step;
    });
  }

 private:
  struct Extent {
    int64_t frames, height, width;
  };
  static Extent extent(const Shape& s, const Layout& layout) {
    const bool frames = !layout.empty() && layout[0] == 'F';
    const int n = s.size() - frames;
    if (n < 2 || n > 3 || (n == 3 && s[frames + 2] != 1 && s[frames + 2] >= 0))
      bad_argument("a map must have a height and a width, got the shape {}", s.text());
    return {frames ? s[0] : 0, s[frames], s[frames + 1]};
  }
  int border_ = 0;
  double shift_ = 0;
};
PENSTOCK_OPERATOR(Remap);

}  // namespace penstock
