// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/shared/signal.h"

namespace penstock {

struct FadeRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t n, channels, in, out;  // lengths in samples; `in` factors of the table come first
      };
      template <class Out, class In>
      PENSTOCK_HD static Out value(const In* in, int64_t i, const Coef& c, const char* table) {
        const float* factors = reinterpret_cast<const float*>(table);
        const int64_t t = i / c.channels, left = c.n - t;
        float v = static_cast<float>(in[i]);
        if (t < c.in) v = v * factors[t];
        if (left <= c.out) v = v * factors[c.in + c.out - left];
        return v;
      });
};

struct Fade : WholeOperator {
  PerSample<int64_t> fade_in = 0, fade_out = 0;
  std::string shape = "linear";

  static Schema<Fade> schema() {
    using Op = Fade;
    return Schema<Op>("fade",
                      "Lets the beginning of a signal rise from silence and its end fall to it.\n\nInput: (n) or (n, "
                      "channels), float32. Output: float32 of the same shape. Lengths beyond the signal's count as the "
                      "signal's. With p from 0 at the silent end to 1 the factors are p; 2^(p - 1) p for "
                      "\"exponential\"; log10(0.1 + p) + 1, within 0 and 1, for \"logarithmic\"; sin(pi p / 2) for "
                      "\"quarter_sine\"; (1 - cos(pi p)) / 2 for \"half_sine\".\n\n"
                      "Example:\n"
                      ">>> fn.fade(np.ones(5, np.float32), fade_in=3, fade_out=2).tolist()\n"
                      "[0.0, 0.5, 1.0, 1.0, 0.0]")
        .arg("fade_in", &Op::fade_in, "Length of the rise in samples.", at_least(0))
        .arg("fade_out", &Op::fade_out, "Length of the fall in samples.", at_least(0))
        .arg("shape", &Op::shape, "\"linear\", \"exponential\", \"logarithmic\", \"quarter_sine\" or \"half_sine\".")
        .oracle("torchaudio");
  }
  void ready() override {
    for (const char* known : {"linear", "exponential", "logarithmic", "quarter_sine", "half_sine"})
      if (shape == known) return;
    bad_argument(
        "shape must be \"linear\", \"exponential\", \"logarithmic\", \"quarter_sine\" or \"half_sine\", got \"{}\"",
        shape);
  }
  void check(std::span<const ValueType> in) override { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    if (in[0].size() < 1 || in[0].size() > 2)
      bad_argument("expected (samples) or (samples, channels), got {} dimensions", in[0].size());
    out[0] = in[0];
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    if (in[0].volume() == 0) return;
    const int64_t n = in[0].shape[0], channels = in[0].shape.size() > 1 ? in[0].shape[1] : 1;
    if (fade_in[s.index] < 0 || fade_out[s.index] < 0) bad_argument("fade_in and fade_out must not be negative");
    const FadeRule::Coef c{n, channels, std::min(fade_in[s.index], n), std::min(fade_out[s.index], n)};
    const auto factors = std::make_shared<const std::vector<float>>(table(c.in, c.out));
    const auto host = [=] {
      const auto* t = reinterpret_cast<const char*>(factors->data());
      const auto* x = in[0].as<const float>();
      auto* const y = out[0].as<float>();
      const int64_t begin = std::min(c.in, n) * channels, end = std::max(n - c.out, c.in) * channels;
      for (int64_t i = 0; i < begin; ++i) y[i] = FadeRule::value<float>(x, i, c, t);
      std::copy(x + begin, x + end, y + begin);
      for (int64_t i = end; i < n * channels; ++i) y[i] = FadeRule::value<float>(x, i, c, t);
    };
    to.map(in[0], out[0],
           {[] { return std::string(FadeRule::pixel_text); }, coef_bytes_of(c), factors,
            [factors] {
              const auto bytes = std::as_bytes(std::span(*factors));
              return std::vector<std::byte>(bytes.begin(), bytes.end());
            },
            host});
  }

 private:
  float factor(double p) const {
    constexpr double pi = 3.14159265358979323846;
    if (shape == "exponential") p = std::exp2(p - 1) * p;
    else if (shape == "logarithmic") p = std::log10(0.1 + p) + 1;
    else if (shape == "quarter_sine") p = std::sin(pi / 2 * p);
    else if (shape == "half_sine") p = (1 - std::cos(pi * p)) / 2;
    return static_cast<float>(std::clamp(p, 0.0, 1.0));
  }
  std::vector<float> table(int64_t in, int64_t out) const {
    std::vector<float> made;
    for (int64_t i = 0; i < in; ++i) made.push_back(factor(in > 1 ? static_cast<double>(i) / (in - 1.0) : 0.0));
    for (int64_t i = 0; i < out; ++i)
      made.push_back(factor(out > 1 ? 1.0 - static_cast<double>(i) / (out - 1.0) : 1.0));
    return made;
  }
};
PENSTOCK_OPERATOR(Fade);

}  // namespace penstock
