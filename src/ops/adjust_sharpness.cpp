// SPDX-License-Identifier: Apache-2.0
#include "families/window/stencil.h"

namespace penstock {

struct AdjustSharpness : window::StencilOperator {
  PerSample<float> sharpness_factor = 1.0f;

  static Schema<AdjustSharpness> schema() {
    return Schema<AdjustSharpness>(
               "adjust_sharpness",
               "Mixes an image with a blurred one.\n\nout = blurred + sharpness_factor * (in - blurred), where blurred "
               "is the mean of 3 x 3 elements of a channel, the middle one of them five times, rounded for integers. "
               "Elements at the border stay the same. Layouts: HW, HWC, CHW, each also with a leading F; the output "
               "keeps the layout. Types: integers of 8 and 16 bits, float16, float32.\n\n"
               "Example:\n"
               ">>> image = np.zeros((48, 64, 3), np.uint8)\n"
               ">>> result = fn.adjust_sharpness(image, sharpness_factor=1.5)")
        .required("sharpness_factor", &AdjustSharpness::sharpness_factor,
                  "0 gives the blurred image, 1 leaves the image unchanged, more sharpens it.", at_least(0))
        .keeps_positions()
        .oracle("torchvision");
  }

  struct Rule {
    PENSTOCK_PIXEL(struct Coef {
      float blurred;  // the share of the blurred image
      float magic;    // rounds to an integer when it is added and subtracted; 0: no rounding
    };);
    PENSTOCK_STENCIL(template <class V, class Near> PENSTOCK_HD static V result(const Near& near, const Coef& c) {
      const V center = near(0, 0);
      V sum = center * 5.0f;
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x)
          if (y != 0 || x != 0) sum += near(y, x);
      const V blurred = sum * (1.0f / 13.0f);
      const V rounded = (blurred + c.magic) - c.magic;
      return center + (rounded - center) * c.blurred;
    });
  };
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const ImageRule::Extents e = image_extents(in[0].shape, in[0].layout);
    if (e.height <= 2 || e.width <= 2) return to.copy(in[0], out[0]);
    const float magic = is_float(in[0].dtype) ? 0.0f : 12582912.0f;
    window::stencil<Rule>(in[0], out[0], window::around(in[0], 1, 1, kBorderClamp),
                          {1 - sharpness_factor[s.index], magic}, to);
    to.then();
    const auto edge = [](const View& v, char axis, int64_t at) { return part(v, v.layout.find(axis), at, 1); };
    for (const char axis : {'H', 'W'})
      for (const int64_t at : {int64_t{0}, (axis == 'H' ? e.height : e.width) - 1})
        to.copy(edge(in[0], axis, at), edge(out[0], axis, at));
  }
};
PENSTOCK_OPERATOR(AdjustSharpness);

}  // namespace penstock
