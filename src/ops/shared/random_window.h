// SPDX-License-Identifier: Apache-2.0
// The random window of an area and an aspect ratio that random_resized_crop and decoders.image_random_crop draw.
#pragma once
#include "operator/operator.h"
#include "ops/shared/random_streams.h"

namespace penstock {

struct RandomWindow {
  std::vector<float> random_area = {0.08f, 1.0f};
  std::vector<float> random_aspect_ratio = {3.0f / 4, 4.0f / 3};
  int num_attempts = 10;

  struct Window {
    int64_t y, x, height, width;
  };
  void check_random_window();
  // After Szegedy et al., "Going deeper with convolutions" (2015): the area and the logarithm of width / height are
  // uniform.
  Window draw(const SampleContext& s, int64_t height, int64_t width) const;
  // The same for many samples: windows[i] of each.
  void draw_all(std::span<const SampleContext> samples, std::span<const ImageExtent> images,
                std::span<Window> windows) const;

 private:
  uint64_t position_block() const { return static_cast<uint64_t>(num_attempts) / 2; }
  // first: block 0 of the stream; position: position_block().
  Window window_of(const RandomStream& random, const PhiloxBlock& first, const PhiloxBlock& position, int64_t height,
                   int64_t width) const;
  float log_ratio_[2] = {};  // by check_random_window
};

template <class Op> Schema<Op>&& random_window_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("random_area", &Op::random_area, "Range of the area of the window, as fractions of the image.")
      .arg("random_aspect_ratio", &Op::random_aspect_ratio, "Range of width / height of the window.")
      .arg("num_attempts", &Op::num_attempts, "Attempts before the largest window of an allowed ratio is taken.",
           at_least(1))
      .random();
}

}  // namespace penstock
