// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/shared/signal.h"

namespace penstock {

struct MelFilterBank : WholeOperator {
  float freq_low = 0.0f, freq_high = 0.0f, sample_rate = 44100.0f;
  int nfilter = 128;
  bool normalize = true;
  std::string mel_formula = "slaney";

  static Schema<MelFilterBank> schema() {
    using Op = MelFilterBank;
    return Schema<Op>("mel_filter_bank",
                      "Converts a spectrogram to the mel scale.\n\n"
                      "Its frequencies are summed under triangles that are evenly spaced on that scale. Input: float32 "
                      "with a dimension f of nfft / 2 + 1 frequencies; without a layout, \"f\", \"ft\" or \"*ft\" is "
                      "assumed. Output: the same with nfilter values in place of f. Slaney's scale: M. Slaney, "
                      "\"Auditory Toolbox\", 1998; HTK's: D. O'Shaughnessy, \"Speech Communication\", 1987.\n\n"
                      "Example:\n"
                      ">>> spectrogram = np.zeros((201, 100), np.float32)\n"
                      ">>> fn.mel_filter_bank(spectrogram, sample_rate=16000.0, nfilter=80).shape\n"
                      "(80, 100)")
        .arg("freq_low", &Op::freq_low, "Start of the first triangle, in hertz.", at_least(0))
        .arg("freq_high", &Op::freq_high, "End of the last triangle, in hertz; 0: sample_rate / 2.", at_least(0))
        .arg("sample_rate", &Op::sample_rate, "Sample rate of the signal, in hertz.")
        .arg("nfilter", &Op::nfilter, "Number of triangles.", at_least(1))
        .arg("normalize", &Op::normalize,
             "True: each triangle has an area of 1 over the frequencies. False: a height of 1.")
        .arg("mel_formula", &Op::mel_formula,
             "\"slaney\": linear below 1 kHz, then logarithmic; \"htk\": 2595 log10(1 + f / 700); \"linear\": hertz.")
        .oracle("dali");
  }
  void ready() override {
    if (mel_formula != "slaney" && mel_formula != "htk" && mel_formula != "linear")
      bad_argument("mel_formula must be \"slaney\", \"htk\" or \"linear\", got \"{}\"", mel_formula);
    if (!(sample_rate > 0)) bad_argument("sample_rate must be positive, got {}", sample_rate);
    if (freq_high == 0) freq_high = sample_rate / 2;
    if (!(freq_low < freq_high) || freq_high > sample_rate / 2)
      bad_argument("freq_low {} must be less than freq_high {}, which must be at most {}, half of sample_rate",
                   freq_low, freq_high, sample_rate / 2);
  }
  void check(std::span<const ValueType> in) override { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    out[0] = in[0];
    out[0][frequency_axis(types[0].layout, in[0].size())] = nfilter;
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    matrices_.multiply(in[0], out[0], frequency_axis(in[0].layout, in[0].shape.size()), to,
                       [&] { return triangles(in[0].shape[frequency_axis(in[0].layout, in[0].shape.size())]); });
  }

 private:
  double to_mel(double hz) const {
    if (mel_formula == "linear") return hz;
    if (mel_formula == "htk") return 2595 * std::log10(1 + hz / 700);
    return hz < 1000 ? hz * 3 / 200 : 15 + std::log(hz / 1000) * 27 / std::log(6.4);
  }
  double to_hz(double mel) const {
    if (mel_formula == "linear") return mel;
    if (mel_formula == "htk") return 700 * (std::pow(10.0, mel / 2595) - 1);
    return mel < 15 ? mel * 200 / 3 : 1000 * std::exp((mel - 15) * std::log(6.4) / 27);
  }
  BandMatrix triangles(int64_t bins) const {
    BandMatrix m;
    m.rows = nfilter, m.columns = bins;
    m.values.assign(static_cast<size_t>(nfilter * bins), 0.0f);
    const double low = to_mel(freq_low), step = (to_mel(freq_high) - low) / (nfilter + 1);
    const double spacing = bins > 1 ? sample_rate / (2.0 * (bins - 1)) : sample_rate;
    for (int r = 0; r < nfilter; ++r) {
      const double begin = to_hz(low + r * step), top = to_hz(low + (r + 1) * step), end = to_hz(low + (r + 2) * step);
      const double height = normalize ? 2 / (end - begin) : 1;
      for (int64_t b = 0; b < bins; ++b) {
        const double f = static_cast<double>(b) * spacing;
        if (f <= begin || f >= end) continue;
        m.values[r * bins + b] =
            static_cast<float>(height * (f <= top ? (f - begin) / (top - begin) : (end - f) / (end - top)));
      }
    }
    m.fit();
    return m;
  }
  KeptMatrices matrices_;
};
PENSTOCK_OPERATOR(MelFilterBank);

}  // namespace penstock
