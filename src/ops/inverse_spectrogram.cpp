// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/signal.h"
#include "ops/shared/spectra.h"

namespace penstock {

struct InverseSpectrogram : WholeOperator {
  bool center_windows = true;
  Optional<int> nfft, window_length, window_step;
  Optional<std::vector<float>> window_fn;
  PerSample<int64_t> length;

  static Schema<InverseSpectrogram> schema() {
    using Op = InverseSpectrogram;
    return Schema<Op>("inverse_spectrogram",
                      "Computes the signal of a complex spectrogram.\n\nInput: float32, (nfft / 2 + 1 frequencies, "
                      "windows, 2), or transposed with the layout tfc, as fn.spectrogram(power=0) gives it: pairs "
                      "(real, imaginary). Output: float32 (samples). Overlapping windows are added, each times "
                      "window_fn, and divided by the sum of the squares of its factors: what fn.spectrogram has "
                      "taken apart with the same arguments comes back. Samples that no window sees are 0. Imaginary "
                      "parts of the first frequency and of the last one of an even nfft are ignored. Source: D. "
                      "Griffin and J. Lim, \"Signal estimation from modified short-time Fourier transform\", 1984.\n\n"
                      "Example:\n"
                      ">>> tone = np.sin(np.arange(4000, dtype=np.float32) / 9)\n"
                      ">>> spectrum = fn.spectrogram(tone, window_length=400, window_step=100, power=0)\n"
                      ">>> back = fn.inverse_spectrogram(spectrum, window_step=100)\n"
                      ">>> bool(np.abs(np.array(back) - tone).max() < 1e-5)\n"
                      "True")
        .arg("center_windows", &Op::center_windows,
             "As fn.spectrogram had it: window k has its center at sample k * "
             "window_step, else it starts there.")
        .arg("nfft", &Op::nfft, "Length of the transform; default: twice the frequencies less 2.")
        .arg("window_length", &Op::window_length, "Samples of a window; default: nfft.")
        .arg("window_step", &Op::window_step, "Samples from one window to the next; default: half a window.")
        .arg("window_fn", &Op::window_fn, "window_length factors; default: Hann's window.")
        .arg("length", &Op::length,
             "Samples of the result; zeros follow the last window. Default: as many as windows see; with "
             "center_windows without the half windows before the first center and after the last one.",
             at_least(0))
        .oracle("torchaudio");
  }
  void ready() override {
    for (const auto* given : {&nfft, &window_length, &window_step})
      if (given->given() && **given < 1) bad_argument("nfft, window_length and window_step must be at least 1");
  }
  void check(std::span<const ValueType> in) override { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].ndim >= 0 && in[0].ndim != 3)
      bad_argument(
          "expected a spectrogram of pairs (real, imaginary), 3 dimensions, got {}; fn.spectrogram(power=0) "
          "makes one",
          in[0].ndim);
    out[0] = {DType::float32, 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    if (in[0].size() != 3) bad_argument("expected 3 dimensions, got {}", in[0].size());
    const bool transposed = types[0].layout.find('t') == 0;
    const int64_t bins = in[0][transposed], frames = in[0][!transposed];
    if (in[0][2] >= 0 && in[0][2] != 2)
      bad_argument("the last dimension must be (real, imaginary), got {} numbers; fn.spectrogram(power=0) makes pairs",
                   in[0][2]);
    out[0] = {bins < 0 || frames < 0 ? -1 : samples(s, plan(bins, frames))};
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const int64_t count = out[0].volume();
    if (count == 0) return;
    const bool transposed = in[0].layout.find('t') == 0;
    const int64_t bins = in[0].shape[transposed], frames = in[0].shape[!transposed];
    const SpectraPlan p = plan(bins, frames);
    const int64_t n = p.size();
    auto* const windows =
        static_cast<float*>(to.scratch(static_cast<size_t>(frames * n + 2 * p.memory(to)) * sizeof(float)));
    WindowsRule::Coef c{};
    c.by_bin = transposed ? 1 : frames, c.by_frame = transposed ? bins : 1;
    c.bins = bins, c.own = p.own(to), c.phases = WindowsRule::kSpectra;
    windows_of({in[0].data}, p, c, windows, windows + frames * n, to);
    to.then();
    signal_of(windows, p, out[0].as<float>(), count, to);
  }

 private:
  SpectraPlan plan(int64_t bins, int64_t frames) const {
    SpectraPlan p = spectra_plan(kept_, bins, nfft, window_length, window_step, window_fn, false);
    p.begin = center_windows ? -(p.length / 2) : 0, p.frames = frames;
    return p;
  }
  int64_t samples(const SampleContext& s, const SpectraPlan& p) const {
    if (length.given()) {
      if (length[s.index] < 0) bad_argument("length must be at least 0, got {}", length[s.index]);
      return length[s.index];
    }
    return p.frames == 0 ? 0 : (p.frames - 1) * p.step + p.length + 2 * p.begin;
  }
  KeptSpectra kept_;
};
PENSTOCK_OPERATOR(InverseSpectrogram);

}  // namespace penstock
