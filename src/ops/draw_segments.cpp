// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "operator/any_number.h"
#include "ops/shared/sampling.h"
#include "ops/shared/segments.h"

namespace penstock {

struct DrawSegments : ImageOperator {
  PerSample<std::vector<float>> segments, color;
  PerSample<std::vector<float>> radius = std::vector<float>{0.5f}, opacity = std::vector<float>{1.0f};
  std::string pixel_origin = "corner";

  static Schema<DrawSegments> schema() {
    using Op = DrawSegments;
    return Schema<Op>(
               "draw_segments",
               "Draws line segments with round ends, one over the other; a segment without length is a disc.\n\nA "
               "pixel belongs to a segment if its center is at most `radius` away from it. It becomes v + opacity * "
               "(color - v), in float32, for each segment in their order; the result is rounded once. All frames of a "
               "sample get the same segments. Layouts: HW, HWC, CHW, each also with a leading F; the output keeps the "
               "layout. Types: integers of 8 and 16 bits, float16, float32.\n\nExample:\n>>> image = np.zeros((48, "
               "64, 3), np.uint8)\n>>> result = fn.draw_segments(\n...     image, segments=[8, 8, 40, 30, 50, 12, 50, "
               "12], radius=[1.5, 6], color=[255, 200, 0]\n... )")
        .required("segments", &Op::segments,
                  "The positions x, y of both ends, in pixels: four numbers for each segment.")
        .required("color", &Op::color,
                  "One number, one for each channel, or one for each segment and channel, the channels of the first "
                  "segment first.",
                  any_number)
        .arg("radius", &Op::radius, "Half the width in pixels: one number, or one for each segment.")
        .arg("opacity", &Op::opacity, "From 0 to 1: one number, or one for each segment.")
        .arg("pixel_origin", &Op::pixel_origin,
             "The position (0, 0): \"corner\" or \"center\" (as in OpenCV) of the first pixel.")
        .float64("distances from segments, so that all devices decide the same at edges")
        .keeps_positions()
        .oracle("numpy");
  }
  void ready() override { shift_ = pixel_shift(pixel_origin); }
  void check(std::span<const ValueType> in) override {
    const DType t = in[0].dtype;
    if (t == DType::bool_ || t == DType::float64 || (t != DType::none && t != DType::float32 && size_of(t) > 2))
      bad_type("expected integers of 8 or 16 bits, float16 or float32, got {}", name_of(t));
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const View from{in[0].data, in[0].dtype, out[0].layout, in[0].shape, in[0].strides};
    const ImageRule::Extents e = image_extents(from.shape, from.layout);
    const int c = from.layout.find('C');
    const int64_t channels = c < 0 ? 1 : from.shape[c];
    const std::vector<double> all = listed(s.index, channels);
    if (out[0].volume() == 0) return;
    const bool last = c > from.layout.find('W');
    const SegmentRule::Coef coef{e, static_cast<int64_t>(all.size()) / (7 + channels), channels, last, kBand, shift_};
    const std::vector<double> table = segment_table(all, coef);
    const ImageTable bytes = image_table(table);
    to.map(from, out[0],
           {&image_rule_text<SegmentRule>, coef_bytes_of(coef), bytes, [bytes] { return *bytes; },
            [=, made = out[0]] { draw_segments(from, made, table, coef); }});
  }

 private:
  static constexpr int64_t kBand = 8;
  static constexpr size_t kMostSegments = 1 << 20;

  // The numbers of SegmentRule for each segment.
  std::vector<double> listed(int sample, int64_t channels) const {
    const std::vector<float> ends = segments[sample], colors = color[sample];
    const size_t n = ends.size() / 4, many = static_cast<size_t>(channels);
    if (ends.size() % 4 != 0 || n > kMostSegments)
      bad_argument("segments must have 4 numbers for each of at most {} segments, got {} numbers", kMostSegments,
                   ends.size());
    if (colors.size() != 1 && colors.size() != many && colors.size() != n * many)
      bad_argument("color has {} numbers; expected 1, {} for the channels, or {} for {} segments", colors.size(), many,
                   n * many, n);
    const std::vector<float> reach = one_each("radius", radius[sample], n, 1e6f);
    const std::vector<float> solid = one_each("opacity", opacity[sample], n, 1.0f);
    std::vector<double> made;
    made.reserve(n * (7 + many));
    for (size_t k = 0; k < n; ++k) {
      const float* p = ends.data() + 4 * k;
      for (size_t i = 0; i < 4; ++i)
        if (!(std::fabs(p[i]) < 1e6f)) bad_argument("segments must be less than 1e6 in magnitude, got {}", p[i]);
      const double dx = static_cast<double>(p[2]) - static_cast<double>(p[0]);
      const double dy = static_cast<double>(p[3]) - static_cast<double>(p[1]), square = dx * dx + dy * dy;
      const double far = reach[reach.size() == 1 ? 0 : k];
      for (const double v :
           {static_cast<double>(p[0]), static_cast<double>(p[1]), dx, dy, square > 0 ? 1 / square : 0.0, far * far,
            static_cast<double>(solid[solid.size() == 1 ? 0 : k])})
        made.push_back(v);
      for (size_t i = 0; i < many; ++i)
        made.push_back(colors[colors.size() == 1 ? 0 : colors.size() == many ? i : k * many + i]);
    }
    return made;
  }
  static std::vector<float> one_each(const char* name, std::vector<float> given, size_t n, float most) {
    if (given.size() != 1 && given.size() != n)
      bad_argument("{} has {} numbers; expected 1, or {} for the segments", name, given.size(), n);
    for (const float v : given)
      if (!(v >= 0 && v <= most)) bad_argument("{} must be from 0 to {}, got {}", name, most, v);
    return given;
  }
  double shift_ = 0;
};
PENSTOCK_OPERATOR(DrawSegments);

}  // namespace penstock
