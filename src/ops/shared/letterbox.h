// SPDX-License-Identifier: Apache-2.0
// Where a letterbox puts an image: scaled into a frame with its aspect ratio, and borders around it. Sizes and borders
// are rounded as in Ultralytics' LetterBox. letterbox computes this on the host, letterbox_placement on both devices.
#pragma once
#include <algorithm>
#include <cmath>

#include "operator/image_work.h"

namespace penstock {

struct LetterboxRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Frame {
        double height;
        double width;
        int32_t centered;
        int32_t scale_up;
        int64_t stride;
      };
      struct Fit {
        double scale;
        double height;  // of the scaled image
        double width;
        double above;
        double left;
        double frame_height;
        double frame_width;
      };
      // The border before an image that is in the middle of `rest` pixels: an odd one is after it.
      PENSTOCK_HD static double before(double rest) {
        return round_even(rest / 2 - 0.1) + 0.0;
      } PENSTOCK_HD static Fit fit(const Frame& f, double height, double width) {
        Fit r;
        r.scale = min(f.height / height, f.width / width);
        if (!f.scale_up) r.scale = min(r.scale, 1.0);
        r.height = max(round_even(height * r.scale), 1.0);
        r.width = max(round_even(width * r.scale), 1.0);
        double down = f.height - r.height;
        double across = f.width - r.width;
        if (f.stride > 0) {
          const auto stride = static_cast<double>(f.stride);
          down = down - floor(down / stride) * stride;
          across = across - floor(across / stride) * stride;
        }
        r.above = f.centered ? before(down) : 0.0;
        r.left = f.centered ? before(across) : 0.0;
        r.frame_height = r.height + down;
        r.frame_width = r.width + across;
        return r;
      } struct Coef {
        Extents out;
        Frame frame;
      };
      // Number p.x of scale, left, above, width, height of the image whose height and width are `in`.
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const auto height = static_cast<double>(in[0]);
        const auto width = static_cast<double>(in[1]);
        const Fit f = fit(c.frame, height, width);
        return stored<Out>(p.x == 0 ? f.scale : p.x == 1 ? f.left : p.x == 2 ? f.above : p.x == 3 ? width : height);
      });
};
constexpr int64_t kLetterboxNumbers = 5;

struct LetterboxArguments {
  PerSample<std::vector<int64_t>> size;
  std::string align = "center";
  bool scale_up = true;
  int stride = 0;

  void check_letterbox() const {
    if (align != "center" && align != "corner")
      bad_argument("align must be \"center\" or \"corner\", got \"{}\"", align);
  }
  LetterboxRule::Frame frame(int sample) const {
    const std::vector<int64_t> v = size[sample];
    if (v.size() != 1 && v.size() != 2) bad_argument("size must be one number, or height and width, got {}", v.size());
    for (const int64_t n : v)
      if (n < 1 || n > INT32_MAX) bad_argument("size must be from 1 to {}, got {}", INT32_MAX, n);
    return {static_cast<double>(v[0]), static_cast<double>(v.back()), align == "center", scale_up, stride};
  }
};

template <class Op> Schema<Op>&& letterbox_arguments(Schema<Op>&& s) {
  return std::move(s)
      .required("size", &Op::size, "Height and width of the frame, or one number for both.")
      .arg("align", &Op::align,
           "Where the image is: \"center\", where a pixel more is below and at the right, or \"corner\", the upper "
           "left one.")
      .arg("scale_up", &Op::scale_up, "False: smaller images keep their size.")
      .arg("stride", &Op::stride,
           "More than 0: the frame shrinks to the image, with borders that are as narrow as a multiple of stride "
           "allows where size is one.",
           within(0, 1 << 20));
}

}  // namespace penstock
