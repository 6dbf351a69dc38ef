// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "families/team/team.h"
#include "ops/shared/signal.h"

namespace penstock {

// A thread weighs a channel by frequency and sums its energy over segments; then the first one finds the blocks that
// count. A block is `whole` segments and `rest` samples of the next one.
struct LoudnessRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t length, channels, segment, segments, blocks, whole, rest;
        double numbers[10];  // of two filters: b[0] .. b[2], a[1], a[2]
      };
      struct Filter {
        double low = 0;
        double high = 0;
        PENSTOCK_HD double next(double x, const double* n) {
          const double y = low + n[0] * x;
          low = (high + n[1] * x) - n[3] * y;
          high = n[2] * x - n[4] * y;
          return y;
        }
      };
      // The energy of each segment's first `rest` samples, and of the whole.
      PENSTOCK_HD static void sum_segments(const float* in, double* sums, const Coef& c) {
        Filter shelf;
        Filter pass;
        int64_t t = 0;
        for (int64_t s = 0; s < c.segments; ++s) {
          double sum = 0;
          double first = 0;
          for (int64_t k = 0; k < c.segment && t < c.length; ++k, ++t) {
            if (k == c.rest) first = sum;
            const double x = static_cast<double>(in[t * c.channels]);
            const double y = pass.next(shelf.next(x, c.numbers), c.numbers + 5);
            sum += y * y;
          }
          sums[2 * s] = c.rest == 0 ? 0.0 : t - s * c.segment <= c.rest ? sum : first;
          sums[2 * s + 1] = sum;
        }
      }
      // The mean power of block k, the channels after the third weighted as sound from the rear.
      PENSTOCK_HD static double power(const double* sums, int64_t k, const Coef& c) {
        double power = 0;
        for (int64_t channel = 0; channel < c.channels; ++channel) {
          const double* const own = sums + 2 * channel * c.segments + 2 * k;
          double sum = c.rest > 0 ? own[2 * c.whole] : 0.0;
          for (int64_t s = 0; s < c.whole; ++s) sum += own[2 * s + 1];
          power += (channel < 3 ? 1.0 : 1.41) * sum;
        }
        return power / static_cast<double>(c.whole * c.segment + c.rest);
      }
      // The mean of the blocks above a power; 0 if there is none.
      PENSTOCK_HD static double mean_above(const double* sums, double least, const Coef& c) {
        double sum = 0;
        int64_t count = 0;
        for (int64_t k = 0; k < c.blocks; ++k) {
          const double p = power(sums, k, c);
          if (!(p > least)) continue;
          sum += p;
          ++count;
        }
        return count > 0 ? sum / static_cast<double>(count) : 0.0;
      } PENSTOCK_HD static void run(const Arrays& arrays, const Coef& c, const char*, const Team& team, Refusal&) {
        double* const sums = arrays.to<double>(1);
        for (int64_t k = team.index; k < c.channels; k += team.count)
          sum_segments(arrays.from<float>(0) + k, sums + 2 * k * c.segments, c);
        team.sync();
        if (team.index != 0) return;
        const double loud = mean_above(sums, 1.1724653045822981e-07, c);  // -70
        const double mean = mean_above(sums, max(1.1724653045822981e-07, 0.1 * loud), c);
        *arrays.to<float>(0) = mean > 0 ? static_cast<float>(10 * log10(mean) - 0.691) : -1.0f / 0.0f;
      });
};

struct LoudnessOfSound : WholeOperator {
  PerSample<float> sample_rate;

  static Schema<LoudnessOfSound> schema() {
    using Op = LoudnessOfSound;
    return Schema<Op>(
               "loudness",
               "Measures how loud sound is, in LKFS, as ITU-R BS.1770-4 does.\n\nSound is weighed by two filters, a "
               "shelf of 4 dB above 1500 Hz and a highpass at 38 Hz. Of blocks of 400 ms, one each 100 ms, those below "
               "-70 do not count, then those 10 below the mean of the others. Input: (samples) or (samples, channels) "
               "float32, at least 400 ms, of at most 5 channels: left, right, center, and two in the rear, which "
               "weigh 1.41. Output: a float32 scalar; minus infinity for silence. A GPU gives each channel to one "
               "thread.\n\n"
               "Example:\n"
               ">>> tone = np.sin(np.arange(48000) * (2 * np.pi * 997 / 48000)).astype(np.float32)\n"
               ">>> round(float(fn.loudness(tone, sample_rate=48000)))\n"
               "-3")
        .required("sample_rate", &Op::sample_rate, "Samples in a second, more than 3000.")
        .float64("an error of a result returns in all that follow")
        .oracle("torchaudio");
  }
  void check(std::span<const ValueType> in) override { check_float32(in); }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override { out[0] = {DType::float32, 0, {}}; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    if (in[0].size() < 1 || in[0].size() > 2)
      bad_argument("expected (samples) or (samples, channels), got {} dimensions", in[0].size());
    if (in[0].size() > 1 && in[0][1] > 5) bad_argument("at most 5 channels have a weight, got {}", in[0][1]);
    out[0] = {};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const double rate = sample_rate[s.index];
    if (!(rate > 3000) || rate > 1e7) bad_argument("sample_rate must be more than 3000, got {}", rate);
    LoudnessRule::Coef c{};
    c.length = in[0].shape[0], c.channels = in[0].shape.size() > 1 ? in[0].shape[1] : 1;
    const auto block = static_cast<int64_t>(std::nearbyint(0.4 * rate));
    c.segment = static_cast<int64_t>(std::nearbyint(0.25 * static_cast<double>(block)));
    c.whole = block / c.segment, c.rest = block % c.segment;
    if (c.length < block)
      bad_argument("a block of 400 ms has {} samples at {} hertz, but the sound has {}", block, rate, c.length);
    c.blocks = (c.length - block) / c.segment + 1;
    c.segments = c.blocks - 1 + c.whole + (c.rest > 0);
    write_numbers(rate, c.numbers);
    void* const sums =
        to.scratch(static_cast<size_t>(2 * c.segments * std::max<int64_t>(c.channels, 1)) * sizeof(double));
    run_team<LoudnessRule>({.in = {in[0].data}, .out = {out[0].data, sums}}, c, to);
  }

 private:
  static void write_numbers(double rate, double* to) {
    const double turn = 2 * 3.14159265358979323846 / rate, root = std::pow(10.0, 4.0 / 40);
    const double shelf = std::cos(1500 * turn), up = root + 1, down = root - 1;
    const double width = std::sqrt(2 * root) * std::sin(1500 * turn);     // of a quality of sqrt(1/2)
    const double low = std::cos(38 * turn), alpha = std::sin(38 * turn);  // of a quality of 1/2
    const std::array<double, 6> filters[] = {{root * (up + down * shelf + width), -2 * root * (down + up * shelf),
                                              root * (up + down * shelf - width), up - down * shelf + width,
                                              2 * (down - up * shelf), up - down * shelf - width},
                                             {(1 + low) / 2, -1 - low, (1 + low) / 2, 1 + alpha, -2 * low, 1 - alpha}};
    for (const auto& f : filters)
      for (const int k : {0, 1, 2, 4, 5}) *to++ = f[k] / f[3];
  }
};
PENSTOCK_OPERATOR(LoudnessOfSound);

}  // namespace penstock
