// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/axes.h"
#include "ops/shared/signal.h"
#include "operator/signal_work.h"

namespace penstock {

struct PowerSpectrum : WholeOperator {
  int64_t axis = -1;
  Optional<int> nfft;
  int power = 2;

  static Schema<PowerSpectrum> schema() {
    using Op = PowerSpectrum;
    return Schema<Op>(
               "power_spectrum",
               "Computes magnitudes of the Fourier transform along one axis.\n\nInput: float32 of any rank. Output: "
               "float32, nfft / 2 + 1 along the axis.\n\n"
               "Example:\n"
               ">>> fn.power_spectrum(np.zeros(512, np.float32)).shape\n"
               "(257,)")
        .arg("axis", &Op::axis, "The axis; negative numbers count from the end.")
        .arg("nfft", &Op::nfft,
             "Length of the transform; default: the extent of the axis. A shorter axis is padded with zeros.",
             at_least(1))
        .arg("power", &Op::power, "2: squared magnitudes; 1: magnitudes.", within(1, 2))
        .oracle("dali");
  }
  void ready() override {
    if (nfft.given() && *nfft > 1 << 24) bad_argument("nfft {} is more than the limit of {}", *nfft, 1 << 24);
  }
  void check(std::span<const ValueType> in) override { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
    const int a = axis_index(axis, in[0].size());
    if (in[0][a] >= 0) out[0][a] = in[0].volume() == 0 ? in[0][a] / 2 + 1 : length(in[0][a]) / 2 + 1;
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    if (out[0].volume() == 0) return;
    const AroundAxis a(in[0].shape, axis_index(axis, in[0].shape.size()));
    if (a.extent == 0) return to.fill(out[0], {{0.0f}, {}});
    const auto transform = real_fourier(length(a.extent));
    FourierLines lines;
    lines.count = a.before * a.after, lines.inner = a.after, lines.length = a.extent, lines.squared = power == 2;
    lines.in_outer = a.extent * a.after, lines.in_inner = 1, lines.in_stride = a.after;
    lines.out_outer = transform->bins() * a.after, lines.out_inner = 1, lines.out_stride = a.after;
    to.transform(in[0], out[0], lines, transform, nullptr);
  }

 private:
  int length(int64_t extent) const {
    if (nfft.given() && *nfft < extent) bad_argument("nfft {} is shorter than the axis's {} elements", *nfft, extent);
    if (extent > 1 << 24) bad_argument("{} elements are more than the limit of {}", extent, 1 << 24);
    return nfft.given() ? *nfft : static_cast<int>(extent);
  }
};
PENSTOCK_OPERATOR(PowerSpectrum);

}  // namespace penstock
