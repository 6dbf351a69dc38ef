// SPDX-License-Identifier: Apache-2.0
// An operator that needs neighbors: one rule, compiled for each instruction set of the CPU and kept as text for a GPU.
#include <penstock/operator.h>
#include <penstock/plugin/families/window/stencil.h>

namespace example {
using namespace penstock;

struct Emboss : window::StencilOperator {
  PerSample<float> depth = 1.0f;

  static Schema<Emboss> schema() {
    return Schema<Emboss>("effects.emboss",
                          "Makes an image look like a relief that is lit from the upper left.\n\n"
                          "The result is 128 plus depth times the difference of the lower right and the upper left "
                          "neighbor; the border is mirrored without repeating the edge. Each channel is by itself. "
                          "Layouts: HW, HWC, CHW, each also with a leading F; kept. Types: integers of 8 and 16 bits, "
                          "float16, float32.")
        .arg("depth", &Emboss::depth, "The factor of the difference.");
  }
  struct Rule {
    PENSTOCK_PIXEL(struct Coef { float depth; };);
    PENSTOCK_STENCIL(template <class V, class Near> PENSTOCK_HD static V result(const Near& near, const Coef& c) {
      return V{} + 128.0f + (near(1, 1) - near(-1, -1)) * c.depth;
    });
  };
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    window::stencil<Rule>(in[0], out[0], window::around(in[0], 1, 1, kBorderReflect101), {depth[s.index]}, to);
  }
};
PENSTOCK_OPERATOR(Emboss);

}  // namespace example
