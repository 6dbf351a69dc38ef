// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/signal.h"
#include "operator/signal_work.h"
#include "ops/shared/spectra.h"

namespace penstock {

struct Spectrogram : WholeOperator {
  bool center_windows = true, reflect_padding = true;
  std::string layout = "ft";
  Optional<int> nfft;
  int power = 2, window_length = 512, window_step = 256;
  Optional<std::vector<float>> window_fn;

  static Schema<Spectrogram> schema() {
    using Op = Spectrogram;
    return Schema<Op>(
               "spectrogram",
               "Computes magnitudes of the short-time Fourier transform of a signal.\n\nInput: (n), (n, 1) or (1, n) "
               "samples, float32. Output: float32, layout ft: (nfft / 2 + 1 frequencies, windows), or transposed, "
               "layout tf. Centered windows: n / window_step + 1 of them. Otherwise as many as fit; then a signal "
               "shorter than a window is an error. Source: J. Allen and L. Rabiner, \"A unified approach to short-time "
               "Fourier analysis\", 1977.\n\n"
               "Example:\n"
               ">>> fn.spectrogram(np.zeros(16000, np.float32), nfft=400, window_length=400, window_step=160).shape\n"
               "(201, 101)")
        .arg("center_windows", &Op::center_windows,
             "True: window k has its center at sample k * window_step. False: it starts there.")
        .arg("reflect_padding", &Op::reflect_padding,
             "With center_windows, extend the signal by its mirror image; otherwise by zeros.")
        .arg("layout", &Op::layout, "Layout of the result: \"ft\" or \"tf\".")
        .arg("nfft", &Op::nfft,
             "Length of the transform; default: window_length. A shorter window is padded with zeros.")
        .arg("power", &Op::power,
             "2: squared magnitudes; 1: magnitudes; 0: complex numbers, as pairs (real, imaginary) along one more "
             "dimension, the last: layout ftc or tfc.",
             within(0, 2))
        .arg("window_length", &Op::window_length, "Samples of a window.", at_least(1))
        .arg("window_step", &Op::window_step, "Samples from one window to the next.", at_least(1))
        .arg("window_fn", &Op::window_fn, "window_length factors; default: Hann's window.")
        .oracle("dali");
  }
  void ready() override {
    if (layout != "ft" && layout != "tf") bad_argument("layout must be \"ft\" or \"tf\", got \"{}\"", layout);
    if (window_fn.given() && static_cast<int>((*window_fn).size()) != window_length)
      bad_argument("window_fn has {} values, but window_length is {}", (*window_fn).size(), window_length);
    const int length = nfft.given() ? *nfft : window_length;
    if (length < window_length) bad_argument("nfft {} is shorter than window_length {}", length, window_length);
    if (length > 1 << 24) bad_argument("nfft {} is more than the limit of {}", length, 1 << 24);
    window_ = std::make_shared<std::vector<float>>(window_fn.given() ? *window_fn : hann_window(window_length));
    transform_ = real_fourier(length);
  }
  void check(std::span<const ValueType> in) override { check_signal(in); }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    if (power == 0) out[0] = {DType::float32, 3, layout + "c"};
    else out[0] = {DType::float32, 2, layout};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = layout == "ft" ? Shape{transform_->bins(), windows(signal_length(in[0]))}
                            : Shape{windows(signal_length(in[0])), transform_->bins()};
    if (power == 0) out[0] = Shape{out[0][0], out[0][1], 2};
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    if (power == 0) return complex_numbers(in[0], out[0], to);
    FourierLines lines;
    lines.count = windows(in[0].volume());
    lines.in_outer = window_step, lines.begin = center_windows ? -(window_length / 2) : 0;
    lines.length = window_length, lines.mirrored = reflect_padding, lines.squared = power == 2;
    lines.out_outer = layout == "ft" ? 1 : transform_->bins(), lines.out_stride = layout == "ft" ? lines.count : 1;
    to.transform(in[0], out[0], lines, transform_, window_);
  }

 private:
  void complex_numbers(const View& in, const View& out, SampleWork& to) const {
    SpectraPlan p = kept_.plan(transform_->length(), *window_);
    p.length = window_length, p.step = window_step, p.begin = center_windows ? -(window_length / 2) : 0;
    p.frames = windows(in.volume());
    const SpectraPlaces places = layout == "ft" ? SpectraPlaces{p.frames, 1} : SpectraPlaces{1, transform_->bins()};
    auto* const own = static_cast<float*>(to.scratch(static_cast<size_t>(p.memory(to)) * 2 * sizeof(float)));
    spectra_of(in.as<const float>(), in.volume(), p, reflect_padding, places, out.as<float>(), own, to);
  }
  int64_t windows(int64_t n) const {
    if (n < 0) return -1;
    const int64_t least = center_windows ? 1 : window_length;
    if (n < least) bad_argument("the signal has {} samples, but a window needs {}", n, least);
    return center_windows ? n / window_step + 1 : (n - window_length) / window_step + 1;
  }

  std::shared_ptr<const std::vector<float>> window_;
  std::shared_ptr<const RealFourier> transform_;
  KeptSpectra kept_;
};
PENSTOCK_OPERATOR(Spectrogram);

}  // namespace penstock
