// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/machine/signal.h"

namespace penstock {

struct NonsilentRegion {
  PerSample<float> cutoff_db = -60.0f, reference_power = 0.0f;
  int window_length = 2048, reset_interval = 8192;

  static Schema<NonsilentRegion> schema() {
    using Op = NonsilentRegion;
    return Schema<Op>("nonsilent_region",
                      "Where a signal begins and ends to be heard.\n\nInput: (n) samples; integers of at most 32 bits, float32, "
                      "float64. Outputs: begin and length, int32 scalars; the length is 0 in silence. A sample is heard where the "
                      "mean power of the window_length samples up to it is at least cutoff_db above the reference; the region "
                      "goes from the begin of the first such window to the end of the last.")
        .arg("cutoff_db", &Op::cutoff_db, "Decibels over the reference power.")
        .arg("reference_power", &Op::reference_power, "Power of 0 dB; 0: the largest mean power of the signal.", at_least(0))
        .arg("window_length", &Op::window_length, "Samples of a window.", at_least(1))
        .arg("reset_interval", &Op::reset_interval, "Accepted without effect: sums are exact enough in float64.")
        .outputs(2).oracle("dali");
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const { out[0] = out[1] = {DType::int32, 0, {}}; }
  void shapes(const SampleContext&, std::span<const Shape>, std::span<const ValueType>, std::span<Shape> out) const {
    out[0] = out[1] = {};
  }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const {
    const int64_t n = signal_length(in[0].shape);
    if (n > 0x7FFFFFFF) bad_argument("{} samples are more than an int32 counts", n);
    int64_t first = -1, last = -1;
    dispatch(in[0].dtype, [&]<class T>(TypeTag<T>) {
      const T* x = in[0].as<const T>();
      const auto power = [&](int64_t i) { const double v = static_cast<double>(x[i]); return v * v; };
      const int64_t window = std::min<int64_t>(window_length, n);
      std::vector<double> mean(n);
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        if (i % 4096 == 0) {  // rounding does not add up
          sum = 0;
          for (int64_t k = std::max<int64_t>(i - window, 0); k < i; ++k) sum += power(k);
        }
        sum += power(i);
        if (i >= window) sum -= power(i - window);
        mean[i] = std::max(sum, 0.0) / static_cast<double>(window);
      }
      double reference = reference_power[s.index];
      if (reference == 0 && n > 0) reference = *std::max_element(mean.begin(), mean.end());
      const double least = reference * std::pow(10.0, cutoff_db[s.index] / 10.0);
      for (int64_t i = 0; i < n; ++i) {
        if (mean[i] < least || reference == 0) continue;
        if (first < 0) first = i;
        last = i;
      }
      if (first >= 0) first = std::max<int64_t>(first - (window - 1), 0);
    });
    *out[0].as<int32_t>() = static_cast<int32_t>(std::max<int64_t>(first, 0));
    *out[1].as<int32_t>() = static_cast<int32_t>(first < 0 ? 0 : last - first + 1);
  }
};
PENSTOCK_OPERATOR(NonsilentRegion);

}  // namespace penstock
