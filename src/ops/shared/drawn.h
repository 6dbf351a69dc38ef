// SPDX-License-Identifier: Apache-2.0
// What operators that draw share: images of bytes, colors and opacity.
#pragma once
#include <cmath>

#include "families/draw/glyphs.h"
#include "operator/any_number.h"
#include "operator/image_work.h"

namespace penstock {

struct DrawOperator : ImageOperator {
  PerSample<std::vector<float>> color = std::vector<float>{255.0f};
  PerSample<float> opacity = 1.0f;

  void check(std::span<const ValueType> in) override { check_bytes(in[0]); }

 protected:
  struct Colors {
    std::vector<int32_t> values;  // one for each channel, or these for several colors
    size_t channels;
    draw::Ink ink(int64_t k, int32_t opacity) const {
      draw::Ink made{{}, opacity};
      const size_t count = std::max<size_t>(1, values.size() / channels);
      const size_t first = static_cast<size_t>(k) % count * channels;
      for (size_t c = 0; c < channels; ++c) made.color[c] = values[values.size() == 1 ? 0 : first + c];
      return made;
    }
  };
  static View drawn_over(const View& in, const View& out) {
    return {in.data, in.dtype, out.layout, in.shape, in.strides};
  }
  static draw::Drawing drawing_of(const View& image) {
    const draw::Canvas c = draw::canvas_of(image);
    if (c.channels > draw::kMostChannels)
      bad_argument("images must have 1 to {} channels, got the shape {}", draw::kMostChannels, image.shape.text());
    if (c.width > draw::kFarthest || c.height > draw::kFarthest)
      bad_argument("images must have at most {} pixels a side, got the shape {}", draw::kFarthest, image.shape.text());
    return {c.width, c.height};
  }
  Colors colors(int sample, const View& image) const { return colors(sample, image, color, "color"); }
  static Colors colors(int sample, const View& image, const PerSample<std::vector<float>>& given, const char* name) {
    const auto channels = static_cast<size_t>(std::max<int64_t>(1, draw::canvas_of(image).channels));
    Colors made{{}, channels};
    for (const float v : given[sample]) {
      if (!(v >= 0 && v <= 255)) bad_argument("{} must be from 0 to 255, got {}", name, v);
      made.values.push_back(static_cast<int32_t>(std::lround(v)));
    }
    if (made.values.empty() || (made.values.size() != 1 && made.values.size() % channels != 0))
      bad_argument("{} has {} numbers; expected 1, {} for the channels, or {} for each of several colors", name,
                   made.values.size(), channels, channels);
    return made;
  }
  static int32_t opacity_of(const char* name, float v) {
    if (!(v >= 0 && v <= 1)) bad_argument("{} must be from 0 to 1, got {}", name, v);
    return static_cast<int32_t>(std::lround(v * 255));
  }
  // What each of these operators begins a sample with.
  struct Begun {
    View image;
    draw::Drawing drawing;
    Colors inks;
    int32_t opaque;
  };
  Begun begin(const SampleContext& s, const View& in, const View& out) const {
    const View image = drawn_over(in, out);
    return {image, drawing_of(image), colors(s.index, image), opacity_of("opacity", opacity[s.index])};
  }
  // The nearest pixel, halves up.
  static int64_t pixel(const char* name, double v) {
    if (!(std::fabs(v) <= draw::kFarthest))
      bad_argument("{} must be at most {} pixels in magnitude, got {}", name, draw::kFarthest, v);
    return static_cast<int64_t>(std::floor(v + 0.5));
  }
  static int64_t within_limits(const char* name, int v, int64_t least, int64_t most) {
    if (v < least || v > most) bad_argument("{} must be from {} to {}, got {}", name, least, most, v);
    return v;
  }
};

template <class Op> Schema<Op>&& draw_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("color", &Op::color,
           "From 0 to 255: one number, one for each channel, or the channels of several colors, which take turns.",
           any_number)
      .arg("opacity", &Op::opacity, "From 0 (unseen) to 1 (opaque), rounded to 255ths.")
      .keeps_positions()
      .in_place()
      .oracle("opencv");
}

// What the pages of these operators say.
constexpr const char* kDrawnImages =
    "Layouts: HW, HWC, CHW, each also with a leading F, whose frames get the same; 1 to 4 channels. Types: uint8. A "
    "value v becomes (v * (255 - a) + color * a + 127) // 255, where a is the opacity in 255ths.";

}  // namespace penstock
