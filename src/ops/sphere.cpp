// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/displacement.h"

namespace penstock {

struct SphereRule : SamplingRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        Source source;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const double middle_x = static_cast<double>(c.out.width / 2);
        const double middle_y = static_cast<double>(c.out.height / 2);
        const double x = static_cast<double>(p.x) + 0.5 - middle_x;
        const double y = static_cast<double>(p.y) + 0.5 - middle_y;
        const double radius = sqrt(x * x + y * y) / max(max(middle_x, middle_y), 0.5);
        return stored<Out>(sampled(in, c.source, p, middle_y + radius * y - 0.5, middle_x + radius * x - 0.5));
      });
};

struct Sphere : Displacement {
  static Schema<Sphere> schema() {
    return Schema<Sphere>("sphere",
                          "Distorts an image as if it lay on a sphere.\n\nThe pixel at a distance r from the center is "
                          "taken from r times that distance, in the same direction; r is 1 at half of the longer side. "
                          "Layouts: HW, HWC, CHW, each also with a leading F; the output keeps the layout. Types: all.")
        .with(&displacement_arguments<Sphere>);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    displace<SphereRule>(s, in[0], out[0], {}, to);
  }
};
PENSTOCK_OPERATOR(Sphere);

}  // namespace penstock
