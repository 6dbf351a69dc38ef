// SPDX-License-Identifier: Apache-2.0
#include "families/window/box.h"

namespace penstock {

struct BoxBlur : ImageOperator {
  PerSample<std::vector<int64_t>> window_size = std::vector<int64_t>{3, 3};
  std::string border_mode = "reflect_101";

  static Schema<BoxBlur> schema() {
    return Schema<BoxBlur>("box_blur",
                           "Returns the mean of the elements under a rectangle around each element, channel by "
                           "channel.\n\nAn even extent has no center: the rectangle has one element more before the "
                           "output's element than after it. Sums of integers are exact, and their means are rounded to "
                           "the nearest integer, half to even, as those of OpenCV's blur of odd extents; "
                           "floating point is summed in float32. The time does not grow with the rectangle's "
                           "area. Layouts: HW, HWC, CHW, each also with a leading F; the output keeps the layout. "
                           "Types: integers of 8 and 16 bits, float16, float32.\n\n"
                           "Example:\n"
                           ">>> fn.box_blur(np.uint8([[0, 9, 0, 0]]), window_size=[3, 1]).tolist()\n"
                           "[[6, 3, 3, 0]]")
        .arg("window_size", &BoxBlur::window_size, "Size of the rectangle: one number, or (width, height).")
        .arg("border_mode", &BoxBlur::border_mode,
             "The area outside the image: \"reflect_101\", \"reflect\", \"replicate\", \"wrap\", or \"constant\": "
             "zeros.")
        .keeps_positions()
        .oracle("opencv");
  }
  void ready() override { border_ = image_border("border_mode", border_mode); }
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype != DType::none && !window::boxed(in[0].dtype))
      bad_type("expected integers of 8 or 16 bits, float16 or float32, got {}", name_of(in[0].dtype));
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const auto size = window_size[s.index];
    if (size.size() < 1 || size.size() > 2) bad_argument("window_size must have 1 or 2 values, got {}", size.size());
    for (const int64_t n : size)
      if (n < 1 || n > 2047) bad_argument("window_size must be from 1 to 2047, got {}", n);
    window::box_window(in[0], out[0],
                       {image_extents(in[0].shape, in[0].layout), size.front(), size.back(), size.front() / 2,
                        size.back() / 2, border_},
                       to);
  }

 private:
  int border_ = 0;
};
PENSTOCK_OPERATOR(BoxBlur);

}  // namespace penstock
