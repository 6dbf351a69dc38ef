// SPDX-License-Identifier: Apache-2.0
#include "families/window/median.h"

namespace penstock {

struct MedianBlur : ImageOperator {
  PerSample<std::vector<int64_t>> window_size = std::vector<int64_t>{3, 3};

  static Schema<MedianBlur> schema() {
    return Schema<MedianBlur>("median_blur",
                              "Returns the median of the elements around each element, channel by channel.\n\nThe "
                              "image is extended by repeating its edge. The operator works as OpenCV's medianBlur "
                              "does. Layouts: HW, HWC, CHW, each also with a leading F; the output keeps the layout. "
                              "Types: all.\n\n"
                              "Example:\n"
                              ">>> result = fn.median_blur(np.zeros((48, 64, 3), np.uint8), window_size=[3, 3])")
        .arg("window_size", &MedianBlur::window_size, "Size of the window: one odd number, or (width, height).")
        .keeps_positions()
        .oracle("opencv");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const auto size = window_size[s.index];
    if (size.size() < 1 || size.size() > 2) bad_argument("window_size must have 1 or 2 values, got {}", size.size());
    for (const int64_t n : size)
      if (n < 1 || n > 4095 || n % 2 == 0) bad_argument("window_size must be odd, from 1 to 4095, got {}", n);
    window::median_window(in[0], out[0], {image_extents(in[0].shape, in[0].layout), size.front(), size.back()}, to);
  }
};
PENSTOCK_OPERATOR(MedianBlur);

}  // namespace penstock
