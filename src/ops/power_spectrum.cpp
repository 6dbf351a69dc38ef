// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/machine/axes.h"
#include "ops/machine/fourier.h"
#include "ops/machine/signal.h"

namespace penstock {

struct PowerSpectrum {
  int64_t axis = -1;
  Optional<int> nfft;
  int power = 2;

  static Schema<PowerSpectrum> schema() {
    using Op = PowerSpectrum;
    return Schema<Op>("power_spectrum",
                      "Magnitudes of the Fourier transform along one axis.\n\nInput: float32 of any rank. Output: float32, "
                      "nfft / 2 + 1 along the axis.")
        .arg("axis", &Op::axis, "The axis, negative ones from the end.")
        .arg("nfft", &Op::nfft, "Length of the transform, the axis's extent if not given; zeros follow a shorter one.", at_least(1))
        .arg("power", &Op::power, "2: squares of magnitudes; 1: magnitudes.", within(1, 2))
        .oracle("dali");
  }
  void ready() {
    if (nfft.given() && *nfft > 1 << 24) bad_argument("nfft {} is more than {}", *nfft, 1 << 24);
  }
  void check(std::span<const ValueType> in) const { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>, std::span<Shape> out) const {
    out[0] = in[0];
    const int a = axis_index(axis, in[0].size());
    if (in[0][a] >= 0) out[0][a] = in[0].volume() == 0 ? in[0][a] / 2 + 1 : length(in[0][a]) / 2 + 1;
  }
  void run(const SampleContext&, std::span<const View> in, std::span<const View> out) const {
    if (out[0].volume() == 0) return;
    const AroundAxis a(in[0].shape, axis_index(axis, in[0].shape.size()));
    if (a.extent == 0) {
      std::fill_n(out[0].as<float>(), out[0].volume(), 0.0f);
      return;
    }
    const auto transform = real_fourier(length(a.extent));
    const int64_t bins = transform->bins(), lines = a.before * a.behind;
    std::vector<float> frames(static_cast<size_t>(transform->length()) * kFourierLanes), result(bins * kFourierLanes);
    const Target target = best_target();
    for (int64_t line = 0; line < lines; line += kFourierLanes) {
      const int some = static_cast<int>(std::min<int64_t>(kFourierLanes, lines - line));
      std::fill(frames.begin(), frames.end(), 0.0f);
      for (int k = 0; k < some; ++k) {
        const int64_t at = line + k;
        const float* from = in[0].as<const float>() + at / a.behind * a.extent * a.behind + at % a.behind;
        for (int64_t i = 0; i < a.extent; ++i) frames[i * kFourierLanes + k] = from[i * a.behind];
      }
      transform->magnitudes(target, frames.data(), result.data(), power == 2);
      for (int k = 0; k < some; ++k) {
        const int64_t at = line + k;
        float* to = out[0].as<float>() + at / a.behind * bins * a.behind + at % a.behind;
        for (int64_t f = 0; f < bins; ++f) to[f * a.behind] = result[f * kFourierLanes + k];
      }
    }
  }

 private:
  int length(int64_t extent) const {
    if (nfft.given() && *nfft < extent) bad_argument("nfft {} is shorter than the axis's {} elements", *nfft, extent);
    if (extent > 1 << 24) bad_argument("{} elements are more than {}", extent, 1 << 24);
    return nfft.given() ? *nfft : static_cast<int>(extent);
  }
};
PENSTOCK_OPERATOR(PowerSpectrum);

}  // namespace penstock
