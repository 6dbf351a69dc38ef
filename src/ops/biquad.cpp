// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ops/shared/recursion.h"

namespace penstock {

struct Biquad : Recursion {
  std::string kind;
  PerSample<float> sample_rate, frequency, q = 0.707f, gain_db = 0.0f;
  bool constant_skirt = false;

  static Schema<Biquad> schema() {
    using Op = Biquad;
    return Schema<Op>("biquad",
                      std::string("Filters a signal by two poles and two zeros: limits its band, or changes its "
                                  "tone.\n\n") +
                          kSignals +
                          "Source: R. Bristow-Johnson, \"Cookbook formulae for audio equalizer biquad filter "
                          "coefficients\".\n\n"
                          "Example:\n"
                          ">>> speech = np.random.rand(16000).astype(np.float32)\n"
                          ">>> dull = fn.biquad(speech, kind=\"lowpass\", sample_rate=16000, frequency=3400)")
        .required("kind", &Op::kind,
                  "\"lowpass\", \"highpass\", \"bandpass\", \"bandreject\", \"allpass\"; or, with gain_db, "
                  "\"equalizer\" around the frequency, \"bass\" below it, \"treble\" above it.")
        .required("sample_rate", &Op::sample_rate, "Samples in a second.")
        .required("frequency", &Op::frequency, "In hertz, between 0 and half the sample rate.")
        .arg("q", &Op::q, "Quality: the frequency divided by the width of the band.")
        .arg("gain_db", &Op::gain_db, "Gain in decibels.")
        .arg("constant_skirt", &Op::constant_skirt, "Of \"bandpass\": the largest gain is q instead of 1.")
        .arg("clamp", &Op::clamp, kClamp)
        .float64("an error of a result returns in all that follow")
        .oracle("torchaudio");
  }
  void ready() override {
    for (const char* known :
         {"lowpass", "highpass", "bandpass", "bandreject", "allpass", "equalizer", "bass", "treble"})
      if (kind == known) return;
    bad_argument(
        "kind must be \"lowpass\", \"highpass\", \"bandpass\", \"bandreject\", \"allpass\", \"equalizer\", \"bass\" or "
        "\"treble\", got \"{}\"",
        kind);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const double rate = sample_rate[s.index], f = frequency[s.index], quality = q[s.index], gain = gain_db[s.index];
    if (!(rate > 0)) bad_argument("sample_rate must be positive, got {}", rate);
    if (!(f > 0) || !(f < rate / 2))
      bad_argument("frequency must be between 0 and half the sample rate of {}, got {}", rate, f);
    if (!(quality > 0)) bad_argument("q must be positive, got {}", quality);
    const double w = 2 * 3.14159265358979323846 * f / rate, sine = std::sin(w), alpha = sine / 2 / quality;
    const Numbers n = kind == "bass" || kind == "treble" || kind == "equalizer"
                          ? tone(std::cos(w), alpha, std::pow(10.0, gain / 40))
                          : band(std::cos(w), sine, alpha);
    filter(in[0], out[0], {n[0], n[1], n[2]}, {n[3], n[4], n[5]}, to);
  }

 private:
  using Numbers = std::array<double, 6>;  // b, then a

  Numbers band(double c, double sine, double alpha) const {
    const double a0 = 1 + alpha, a1 = -2 * c, a2 = 1 - alpha;
    if (kind == "lowpass") return {(1 - c) / 2, 1 - c, (1 - c) / 2, a0, a1, a2};
    if (kind == "highpass") return {(1 + c) / 2, -1 - c, (1 + c) / 2, a0, a1, a2};
    if (kind == "bandreject") return {1, a1, 1, a0, a1, a2};
    if (kind == "allpass") return {a2, a1, a0, a0, a1, a2};
    const double skirt = constant_skirt ? sine / 2 : alpha;
    return {skirt, 0, -skirt, a0, a1, a2};
  }
  // `root`: the square root of the gain.
  Numbers tone(double c, double alpha, double root) const {
    if (kind == "equalizer")
      return {1 + alpha * root, -2 * c, 1 - alpha * root, 1 + alpha / root, -2 * c, 1 - alpha / root};
    const double side = kind == "bass" ? 1 : -1, width = 2 * std::sqrt(root) * alpha;
    const double up = root + 1, down = root - 1;
    return {root * (up - side * down * c + width), side * 2 * root * (down - side * up * c),
            root * (up - side * down * c - width), up + side * down * c + width,
            side * -2 * (down + side * up * c),    up + side * down * c - width};
  }
};
PENSTOCK_OPERATOR(Biquad);

}  // namespace penstock
