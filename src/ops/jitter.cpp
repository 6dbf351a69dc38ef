// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/displacement.h"
#include "ops/shared/random_values.h"

namespace penstock {

struct JitterRule : SamplingRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        Source source;
        RandomStream draws;
        int64_t degree;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const int64_t pixel = (p.outer * c.out.height + p.y) * c.out.width + p.x;
        const PhiloxBlock b = c.draws.block(static_cast<uint64_t>(pixel) >> 1);
        const int k = static_cast<int>(pixel & 1) * 2;
        const uint64_t n = static_cast<uint64_t>(c.degree) / 2 * 2 + 1;
        const int64_t x = p.x - c.degree / 2 + static_cast<int64_t>((b.word[k] * n) >> 32);
        const int64_t y = p.y - c.degree / 2 + static_cast<int64_t>((b.word[k + 1] * n) >> 32);
        return static_cast<Out>(in[offset_of(c.out, p.outer, 0, clamp<int64_t>(y, 0, c.out.height - 1),
                                             clamp<int64_t>(x, 0, c.out.width - 1), p.inner)]);
      });
};

struct Jitter : Displacement {
  int nDegree = 2;

  static Schema<Jitter> schema() {
    using Op = Jitter;
    return Schema<Op>("jitter",
                      "Replaces each pixel by a random pixel near it.\n\nThat pixel is at most trunc(nDegree / 2) "
                      "pixels away along each axis, and inside the image; channels stay together. The random numbers "
                      "come from Philox4x32-10, keyed on the seed, the epoch, the sample and, unless the operator has "
                      "a seed of its own, the operator. Layouts: HW, HWC, CHW, each also with a leading F; the output "
                      "keeps the layout. Types: all.")
        .arg("nDegree", &Op::nDegree, "Twice the largest distance in pixels.", within(0, 65535))
        .with(&displacement_arguments<Op>)
        .random();
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    displace<JitterRule>(s, in[0], out[0], {{}, {}, RandomValues::stream(s), nDegree}, to);
  }
};
PENSTOCK_OPERATOR(Jitter);

}  // namespace penstock
