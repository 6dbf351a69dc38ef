// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/shared/axes.h"
#include "ops/shared/signal.h"

namespace penstock {

struct Mfcc : WholeOperator {
  int64_t axis = 0;
  int dct_type = 2, n_mfcc = 20;
  float lifter = 0.0f;
  bool normalize = false;

  static Schema<Mfcc> schema() {
    using Op = Mfcc;
    return Schema<Op>("mfcc",
                      "Computes mel-frequency cepstral coefficients.\n\n"
                      "They are the cosine transform of a mel spectrogram in decibels, along one axis. Input: float32 "
                      "of any rank. Output: the same with n_mfcc (at most the extent) along the axis. Transforms: K. "
                      "R. Rao and P. Yip, \"Discrete Cosine Transform\", 1990; S. Davis and P. Mermelstein, 1980.\n\n"
                      "Example:\n"
                      ">>> mel_decibels = np.zeros((80, 100), np.float32)\n"
                      ">>> fn.mfcc(mel_decibels, axis=0, n_mfcc=13).shape\n"
                      "(13, 100)")
        .arg("axis", &Op::axis, "The axis; negative numbers count from the end.")
        .arg("dct_type", &Op::dct_type, "Type of the cosine transform, 1 to 4.", within(1, 4))
        .arg("n_mfcc", &Op::n_mfcc, "Number of coefficients to keep.", at_least(1))
        .arg("lifter", &Op::lifter,
             "If greater than 0, coefficient i is multiplied by 1 + lifter / 2 * sin(pi (i + 1) / lifter).",
             at_least(0))
        .arg("normalize", &Op::normalize, "Use the orthonormal transform; not for type 1.")
        .oracle("dali");
  }
  void ready() override {
    if (dct_type == 1 && normalize) bad_argument("normalize cannot be combined with dct_type 1");
  }
  void check(std::span<const ValueType> in) override { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
    const int a = axis_index(axis, in[0].size());
    if (in[0][a] < 0) return;
    if (dct_type == 1 && in[0][a] == 1) bad_argument("dct_type 1 needs at least 2 elements");
    out[0][a] = std::min<int64_t>(n_mfcc, in[0][a]);
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const int a = axis_index(axis, in[0].shape.size());
    matrices_.multiply(in[0], out[0], a, to, [&] { return cosines(in[0].shape[a]); });
  }

 private:
  double cosine(int64_t k, int64_t i, int64_t n) const {
    constexpr double pi = 3.14159265358979323846;
    const double K = static_cast<double>(k), I = static_cast<double>(i), N = static_cast<double>(n);
    switch (dct_type) {
      case 1: return i == 0 ? 0.5 : i == n - 1 ? (k % 2 ? -0.5 : 0.5) : std::cos(pi * I * K / (N - 1));
      case 2: return std::cos(pi / N * (I + 0.5) * K) * (normalize ? std::sqrt((k ? 2 : 1) / N) : 1);
      case 3:
        if (normalize) return i == 0 ? std::sqrt(1 / N) : std::sqrt(2 / N) * std::cos(pi / N * I * (K + 0.5));
        return i == 0 ? 0.5 : std::cos(pi / N * I * (K + 0.5));
      default: return std::cos(pi / N * (I + 0.5) * (K + 0.5)) * (normalize ? std::sqrt(2 / N) : 1);
    }
  }
  BandMatrix cosines(int64_t n) const {
    BandMatrix m;
    m.rows = std::min<int64_t>(n_mfcc, n), m.columns = n, m.fused = true;
    for (int64_t k = 0; k < m.rows; ++k) {
      const double lift =
          lifter > 0 ? 1 + lifter / 2.0 * std::sin(3.14159265358979323846 * static_cast<double>(k + 1) / lifter) : 1;
      for (int64_t i = 0; i < n; ++i) m.values.push_back(static_cast<float>(lift * cosine(k, i, n)));
    }
    m.fit();
    return m;
  }
  KeptMatrices matrices_;
};
PENSTOCK_OPERATOR(Mfcc);

}  // namespace penstock
