// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>

#include "families/team/team.h"
#include "ops/shared/signal.h"

namespace penstock {

// Parts of `half` samples; each but the first goes over from what follows the part before to the place nearby that
// differs least from it. Threads share the places, then the samples.
struct TimeStretchRule {
  PENSTOCK_PIXEL(
      struct Coef { int64_t n, m, channels, half, reach; };
      PENSTOCK_HD static float difference(const float* a, const float* b, int64_t count) {
        float part[8] = {};
        int64_t i = 0;
        for (; i + 8 <= count; i += 8)
          for (int j = 0; j < 8; ++j) part[j] += (a[i + j] - b[i + j]) * (a[i + j] - b[i + j]);
        float sum = ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
        for (; i < count; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
        return sum < 3e38f ? sum : 3e38f;
      }
      // The place from begin to end whose samples differ least from those at `like`; the first of several.
      PENSTOCK_HD static int64_t nearest(const float* x, int64_t like, int64_t begin, int64_t end, const Coef& c,
                                         const Team& team) {
        int64_t best = 0x7FFFFFFFFFFFFFFF;
        for (int64_t place = begin + team.index; place <= end; place += team.count) {
          const float d = difference(x + place * c.channels, x + like * c.channels, c.half * c.channels);
          best = min(best, static_cast<int64_t>(std::bit_cast<int32_t>(d)) << 32 | (place - begin));
        }
        return begin + (team.least(best) & 0xFFFFFFFF);
      } PENSTOCK_HD static void run(const Arrays& arrays, const Coef& c, const char* table, const Team& team,
                                    Refusal&) {
        const float* const x = arrays.from<float>(0);
        const float* const ramp = reinterpret_cast<const float*>(table);
        float* const y = arrays.to<float>(0);
        const int64_t whole = c.m * c.channels;
        const int64_t part = c.half * c.channels;
        if (c.half == 0) {
          for (int64_t i = team.index; i < whole; i += team.count)
            y[i] = x[i / c.channels * c.n / c.m * c.channels + i % c.channels];
          return;
        }
        for (int64_t i = team.index; i < part; i += team.count) y[i] = x[i];
        int64_t place = 0;
        for (int64_t at = c.half; at < c.m; at += c.half) {
          const int64_t most = c.n - (at + c.half < c.m ? 2 * c.half : c.half);
          const int64_t there = min(at * (c.n - c.half) / (c.m - c.half), most);
          const int64_t like = place + c.half;
          place = nearest(x, like, max(there - c.reach, int64_t{0}), min(there + c.reach, most), c, team);
          const float* const from = x + like * c.channels;
          const float* const to = x + place * c.channels;
          for (int64_t i = team.index; i < part && at * c.channels + i < whole; i += team.count)
            y[at * c.channels + i] = from[i] + (to[i] - from[i]) * ramp[i / c.channels];
        }
      });
};

struct TimeStretch : WholeOperator {
  PerSample<float> sample_rate, factor;

  static Schema<TimeStretch> schema() {
    using Op = TimeStretch;
    return Schema<Op>(
               "time_stretch",
               "Plays sound faster or slower without a change of its pitch.\n\nParts of 20 ms are joined where they "
               "fit best, at most 10 ms from where they belong (waveform similarity, as SoX's tempo does). Channels "
               "move together. Input: (samples) or (samples, channels), float32. Output: samples / factor samples, "
               "rounded up. Source: W. Verhelst and M. Roelands, \"An overlap-add technique based on waveform "
               "similarity\", 1993.\n\n"
               "Example:\n"
               ">>> speech = np.random.rand(16000).astype(np.float32)\n"
               ">>> fn.time_stretch(speech, sample_rate=16000, factor=1.25).shape\n"
               "(12800,)")
        .required("sample_rate", &Op::sample_rate, "Samples in a second.")
        .required("factor", &Op::factor, "From 0.1 to 10: 1.25 is a quarter faster, and shorter.")
        .oracle("numpy");
  }
  void check(std::span<const ValueType> in) override { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    if (in[0].size() < 1 || in[0].size() > 2)
      bad_argument("expected (samples) or (samples, channels), got {} dimensions", in[0].size());
    out[0] = in[0];
    const float f = factor[s.index];
    if (!(f >= 0.1f && f <= 10)) bad_argument("factor must be from 0.1 to 10, got {}", f);
    if (in[0][0] > kMostSamples) bad_argument("{} samples are more than the limit of {}", in[0][0], kMostSamples);
    if (in[0][0] >= 0) out[0][0] = static_cast<int64_t>(std::ceil(static_cast<double>(in[0][0]) / f));
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    if (in[0].volume() == 0) return;
    const float rate = sample_rate[s.index];
    if (!(rate >= 1 && rate <= 1e6f)) bad_argument("sample_rate must be from 1 to a million, got {}", rate);
    const int64_t n = in[0].shape[0], m = out[0].shape[0], channels = in[0].shape.size() > 1 ? in[0].shape[1] : 1;
    const int64_t half = std::min({static_cast<int64_t>(0.02 * rate), n / 2, m / 2});
    std::vector<float> ramp;
    for (int64_t i = 0; i < half; ++i)
      ramp.push_back(static_cast<float>(
          0.5 - 0.5 * std::cos(3.14159265358979323846 * (static_cast<double>(i) + 0.5) / static_cast<double>(half))));
    run_team<TimeStretchRule>(
        {.in = {in[0].data}, .out = {out[0].data}, .table = team_table(std::span<const float>(ramp))},
        {n, m, channels, half, half / 2}, to);
  }

 private:
  static constexpr int64_t kMostSamples = int64_t{1} << 29;  // the product of two lengths is one of 64 bits
};
PENSTOCK_OPERATOR(TimeStretch);

}  // namespace penstock
