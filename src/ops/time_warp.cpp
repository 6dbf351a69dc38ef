// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/shared/random_streams.h"
#include "ops/shared/signal.h"

namespace penstock {

// Frame j of the result is read at a place between two frames.
struct TimeWarpRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t frames, inner;  // elements after the dimension of frames
        int64_t from, to;       // where the anchor is, and where it goes
      };
      struct Place {
        int64_t frame;
        float share;  // of the frame after it
      };
      PENSTOCK_HD static Place place(int64_t j, const Coef& c) {
        const bool left = j < c.to;
        const int64_t begin = left ? 0 : c.from, part = left ? c.to : c.frames - 1 - c.to;
        const int64_t read = left ? j * c.from : (j - c.to) * (c.frames - 1 - c.from);
        const int64_t whole = part > 0 ? read / part : 0, rest = part > 0 ? read % part : 0;
        return {begin + whole, rest > 0 ? static_cast<float>(rest) / static_cast<float>(part) : 0.0f};
      } PENSTOCK_HD static float between(float a, float b, float share) { return a + share * (b - a); }
      // All elements of frame j, on the host.
      static void frame(const float* in, int64_t j, const Coef& c, float* out) {
        const Place p = place(j, c);
        const float* at = in + p.frame * c.inner;
        for (int64_t x = 0; x < c.inner; ++x) out[x] = p.share > 0 ? between(at[x], at[x + c.inner], p.share) : at[x];
      } template <class Out, class In>
      PENSTOCK_HD static Out value(const In* in, int64_t i, const Coef& c, const char*) {
        const int64_t x = i % c.inner, j = i / c.inner % c.frames, o = i / c.inner / c.frames;
        const Place p = place(j, c);
        const In* at = in + (o * c.frames + p.frame) * c.inner + x;
        const float first = static_cast<float>(at[0]);
        return p.share > 0 ? between(first, static_cast<float>(at[c.inner]), p.share) : first;
      });
};

struct TimeWarp : WholeOperator {
  PerSample<int64_t> max_shift = 80;
  PerSample<int64_t> anchor, shift;

  static Schema<TimeWarp> schema() {
    using Op = TimeWarp;
    return Schema<Op>(
               "time_warp",
               "Warps a spectrogram in time, as SpecAugment does.\n\nA random frame moves, and the frames beside it "
               "are "
               "stretched and squeezed. The anchor is drawn from the frames that are farther than max_shift from both "
               "ends, "
               "its shift from -max_shift to max_shift; both are uniform. The first and the last frame stay. Places "
               "between are read on straight lines: the sparse warp of the paper in one dimension, piecewise linear, "
               "with linear interpolation. Where a sample has fewer than 2 max_shift + 3 frames, max_shift is reduced "
               "for it; fewer than 5 frames stay as they are. Layouts: those with f and t (features and frames); "
               "without a layout the last two dimensions are (features, frames). Type: float32. Source: D. S. Park et "
               "al., \"SpecAugment: A Simple Data Augmentation Method for Automatic Speech Recognition\", 2019.\n\n"
               "Example:\n"
               ">>> result = fn.time_warp(np.random.rand(80, 300).astype(np.float32), max_shift=40)")
        .arg("max_shift", &Op::max_shift, "The largest shift in frames: W of the paper.", at_least(0))
        .arg("anchor", &Op::anchor, "The frame that moves, instead of a random one; needs shift.", at_least(0))
        .arg("shift", &Op::shift, "By how many frames, instead of a random number; needs anchor.")
        .random()
        .oracle("numpy");
  }
  void ready() override {
    if (anchor.given() != shift.given()) bad_argument("anchor and shift must be given together");
  }
  void check(std::span<const ValueType> in) override { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (in[0].ndim >= 0) SpectrogramAxes{in[0].layout, in[0].ndim};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    if (in[0].volume() == 0) return;
    const AroundAxis a(in[0].shape, SpectrogramAxes(in[0].layout, in[0].shape.size()).frames);
    const TimeWarpRule::Coef c = drawn(s, a);
    const auto host = [=] {
      for (int64_t o = 0; o < a.before; ++o)
        for (int64_t j = 0; j < c.frames; ++j) {
          const int64_t first = o * c.frames * c.inner;
          TimeWarpRule::frame(in[0].as<const float>() + first, j, c, out[0].as<float>() + first + j * c.inner);
        }
    };
    to.map(in[0], out[0],
           {[] { return std::string(TimeWarpRule::pixel_text); }, coef_bytes_of(c), nullptr, nullptr, host});
  }

 private:
  TimeWarpRule::Coef drawn(const SampleContext& s, const AroundAxis& a) const {
    const int64_t n = a.extent;
    if (anchor.given()) {
      const int64_t from = anchor[s.index], moved = from + shift[s.index];
      if (from < 1 || from > n - 2 || moved < 1 || moved > n - 2)
        bad_argument("the anchor {} and where it goes, {}, must be between the first and the last of {} frames", from,
                     moved, n);
      return {n, a.after, from, moved};
    }
    if (max_shift[s.index] < 0) bad_argument("max_shift must not be negative, got {}", max_shift[s.index]);
    const int64_t most = std::min(max_shift[s.index], (n - 3) / 2);
    if (n < 5 || most == 0) return {n, a.after, 0, 0};
    const RandomStream draws = stream_of(s);
    const int64_t from = most + 1 + below(draws.draw(0), n - 2 * most - 2);
    return {n, a.after, from, from + below(draws.draw(1), 2 * most + 1) - most};
  }
};
PENSTOCK_OPERATOR(TimeWarp);

}  // namespace penstock
