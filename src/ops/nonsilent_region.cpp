// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/shared/signal.h"

namespace penstock {

struct NonsilentRegion : WholeOperator {
  PerSample<float> cutoff_db = -60.0f, reference_power = 0.0f;
  int window_length = 2048, reset_interval = 8192;

  static Schema<NonsilentRegion> schema() {
    using Op = NonsilentRegion;
    return Schema<Op>(
               "nonsilent_region",
               "Finds where the sound of a signal starts and how long it is.\n\nInput: (n) samples; integers of at "
               "most 32 bits, float32, float64. Outputs: the start and the length, int32 scalars; the length of "
               "silence is 0. A window is the window_length samples up to a sample; it has sound if its mean power is "
               "at least cutoff_db above the reference. The region extends from the start of the first such window to "
               "the end of the last one.\n\n"
               "Example:\n"
               ">>> signal = np.concatenate([np.zeros(4000), np.ones(8000), np.zeros(4000)]).astype(np.float32)\n"
               ">>> begin, length = fn.nonsilent_region(signal, cutoff_db=-20.0, window_length=64)")
        .arg("cutoff_db", &Op::cutoff_db, "Threshold in decibels relative to the reference power.")
        .arg("reference_power", &Op::reference_power, "Power of 0 dB; 0: the largest mean power of the signal.",
             at_least(0))
        .arg("window_length", &Op::window_length, "Samples of a window.", at_least(1))
        .arg("reset_interval", &Op::reset_interval, "Accepted without effect: sums in float64 are exact enough.")
        .outputs(2)
        .float64("sums of powers over windows, because float32 loses their digits in long signals")
        .oracle("dali");
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    out[0] = out[1] = {DType::int32, 0, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = out[1] = {};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int64_t n = signal_length(in[0].shape);
    if (n > 0x7FFFFFFF) bad_argument("{} samples are more than an int32 can count", n);
    if (n == 0) return to.fill(out[0], {{0.0f}, {}}), to.fill(out[1], {{0.0f}, {}});
    to.region(
        in[0], out[0], out[1],
        {reference_power[s.index], std::pow(10.0, cutoff_db[s.index] / 10.0), std::min<int64_t>(window_length, n)});
  }
};
PENSTOCK_OPERATOR(NonsilentRegion);

}  // namespace penstock
