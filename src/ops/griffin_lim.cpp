// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/random_streams.h"
#include "ops/shared/signal.h"
#include "ops/shared/spectra.h"

namespace penstock {

struct GriffinLim : WholeOperator {
  Optional<int> nfft, window_length, window_step;
  Optional<std::vector<float>> window_fn;
  int power = 2, n_iter = 32;
  float momentum = 0.99f;
  PerSample<int64_t> length;
  bool rand_init = true;

  static Schema<GriffinLim> schema() {
    using Op = GriffinLim;
    return Schema<Op>("griffin_lim",
                      "Finds a signal that has a spectrogram of magnitudes.\n\nInput: float32, (nfft / 2 + 1 "
                      "frequencies, windows), or transposed with the layout tf, of centered windows. Output: float32 "
                      "(samples). The phases begin at random, from Philox4x32-10 as those of fn.random, or at 0; each "
                      "step takes those of the spectrogram of the signal that magnitudes and phases make. A window "
                      "shorter than nfft lies in its middle. Sources: D. Griffin and J. Lim, \"Signal estimation from "
                      "modified short-time Fourier transform\", 1984; N. Perraudin, P. Balazs and P. L. "
                      "Soendergaard, \"A fast Griffin-Lim algorithm\", 2013.\n\n"
                      "Example:\n"
                      ">>> tone = np.sin(np.arange(4000, dtype=np.float32) / 9)\n"
                      ">>> power = fn.spectrogram(tone, window_length=400, window_step=100)\n"
                      ">>> fn.griffin_lim(power, window_step=100, n_iter=8).shape\n"
                      "(4000,)")
        .arg("nfft", &Op::nfft, "Length of the transform; default: twice the frequencies less 2.")
        .arg("n_iter", &Op::n_iter, "Number of steps.", within(0, 10000))
        .arg("window_length", &Op::window_length, "Samples of a window; default: nfft.")
        .arg("window_step", &Op::window_step, "Samples from one window to the next; default: half a window.")
        .arg("window_fn", &Op::window_fn, "window_length factors; default: Hann's window.")
        .arg("power", &Op::power, "What the input is: 2, squared magnitudes; 1, magnitudes.", within(1, 2))
        .arg("momentum", &Op::momentum, "From 0, the algorithm of 1984, to less than 1: how far steps lead on.",
             within(0, 1))
        .arg("length", &Op::length,
             "Samples of the result: as many as make so many windows. Default: (windows - 1) * window_step, 1 more "
             "for an odd nfft.",
             at_least(0))
        .arg("rand_init", &Op::rand_init, "Begin with random phases, else with 0.")
        .random()
        .oracle("torchaudio");
  }
  void ready() override {
    for (const auto* given : {&nfft, &window_length, &window_step})
      if (given->given() && **given < 1) bad_argument("nfft, window_length and window_step must be at least 1");
    if (momentum >= 1) bad_argument("momentum must be less than 1, got {}", momentum);
  }
  void check(std::span<const ValueType> in) override { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].ndim >= 0 && in[0].ndim != 2)
      bad_argument("expected a spectrogram of magnitudes, 2 dimensions, got {}", in[0].ndim);
    out[0] = {DType::float32, 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    if (in[0].size() != 2) bad_argument("expected 2 dimensions, got {}", in[0].size());
    const bool transposed = types[0].layout.find('t') == 0;
    const int64_t bins = in[0][transposed], frames = in[0][!transposed];
    out[0] = {bins < 0 || frames < 0 ? -1 : samples(s, plan(bins, frames))};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int64_t count = out[0].volume();
    if (count == 0) return;
    const bool transposed = in[0].layout.find('t') == 0;
    const int64_t bins = in[0].shape[transposed], frames = in[0].shape[!transposed];
    const SpectraPlan p = plan(bins, frames);
    const int64_t pairs = 2 * bins * frames;
    auto* const windows = static_cast<float*>(
        to.scratch(static_cast<size_t>(frames * p.size() + 2 * p.memory(to) + 2 * pairs + count) * sizeof(float)));
    float* const own = windows + frames * p.size();
    float* now = own + 2 * p.memory(to);
    float* before = now + pairs;
    float* const signal = before + pairs;
    WindowsRule::Coef c{};
    c.by_bin = transposed ? 1 : frames, c.by_frame = transposed ? bins : 1;
    c.bins = bins, c.own = p.own(to), c.squares = power == 2;
    c.phases = rand_init ? WindowsRule::kDrawn : WindowsRule::kFlat;
    c.draws = stream_of(s), c.momentum = momentum / (1 + momentum);
    for (int i = 0; i <= n_iter; ++i) {
      windows_of({in[0].data, now, before}, p, c, windows, own, to);
      to.then();
      signal_of(windows, p, i < n_iter ? signal : out[0].as<float>(), count, to);
      if (i == n_iter) return;
      to.then();
      std::swap(now, before);
      spectra_of(signal, count, p, true, {1, bins}, now, own, to);
      to.then();
      c.phases = i > 0 && momentum > 0 ? WindowsRule::kAccelerated : WindowsRule::kPhases;
    }
  }

 private:
  SpectraPlan plan(int64_t bins, int64_t frames) const {
    SpectraPlan p = spectra_plan(kept_, bins, nfft, window_length, window_step, window_fn, true);
    p.length = p.size(), p.begin = -(p.size() / 2), p.frames = frames;
    return p;
  }
  int64_t samples(const SampleContext& s, const SpectraPlan& p) const {
    const int64_t least = std::max<int64_t>(p.frames - 1, 0) * p.step;
    if (!length.given()) return p.frames == 0 ? 0 : least + p.size() % 2;
    const int64_t given = length[s.index];
    if (given < least || given >= least + p.step)
      bad_argument("{} windows that are {} samples apart are of {} to {} samples, got length {}", p.frames, p.step,
                   least, least + p.step - 1, given);
    return given;
  }
  KeptSpectra kept_;
};
PENSTOCK_OPERATOR(GriffinLim);

}  // namespace penstock
