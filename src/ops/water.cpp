// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/displacement.h"

namespace penstock {

struct WaterRule : SamplingRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        Source source;
        float ampl_x;
        float ampl_y;
        float freq_x;
        float freq_y;
        float phase_x;
        float phase_y;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const double x = static_cast<double>(p.x);
        const double y = static_cast<double>(p.y);
        return stored<Out>(sampled(in, c.source, p, y + c.ampl_y * cos(c.freq_y * x + c.phase_y) - 0.5,
                                   x + c.ampl_x * sin(c.freq_x * y + c.phase_x) - 0.5));
      });
};

struct Water : Displacement {
  float ampl_x = 10.0f, ampl_y = 10.0f, freq_x = 0.049087f, freq_y = 0.049087f, phase_x = 0.0f, phase_y = 0.0f;

  static Schema<Water> schema() {
    using Op = Water;
    return Schema<Op>("water",
                      "Distorts an image as if it lay under waving water.\n\nThe pixel (x, y) is taken from (x + "
                      "ampl_x * sin(freq_x * y + phase_x), y + ampl_y * cos(freq_y * x + phase_y)), where (0, 0) is "
                      "the corner of the first pixel. Layouts: HW, HWC, CHW, each also with a leading F; the output "
                      "keeps the layout. Types: all.")
        .arg("ampl_x", &Op::ampl_x, "Amplitude of the waves along x, in pixels.")
        .arg("ampl_y", &Op::ampl_y, "Amplitude of the waves along y, in pixels.")
        .arg("freq_x", &Op::freq_x, "Frequency of the waves along x, in radians per row.")
        .arg("freq_y", &Op::freq_y, "Frequency of the waves along y, in radians per column.")
        .arg("phase_x", &Op::phase_x, "Phase of the first row, in radians.")
        .arg("phase_y", &Op::phase_y, "Phase of the first column, in radians.")
        .with(&displacement_arguments<Op>);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    displace<WaterRule>(s, in[0], out[0], {{}, {}, ampl_x, ampl_y, freq_x, freq_y, phase_x, phase_y}, to);
  }
};
PENSTOCK_OPERATOR(Water);

}  // namespace penstock
