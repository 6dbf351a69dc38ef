// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/shared/convolution.h"
#include "ops/shared/signal.h"

namespace penstock {

struct Convolve : WholeOperator {
  std::string mode = "full", normalize = "none";

  static Schema<Convolve> schema() {
    using Op = Convolve;
    return Schema<Op>(
               "convolve",
               "Convolves a signal with a response, such as that of a room.\n\nsignal: (n) or (n, channels); response: "
               "(m), or (m, channels) with as many channels; float32. Output: float32, of the signal's channels. "
               "Results are within 1e-6 times the product of the Euclidean norms of the response and of as much of the "
               "signal as a transform sees. Up to 48 taps are summed, more are multiplied as Fourier transforms of "
               "parts that overlap. Source: A. V. Oppenheim and R. W. Schafer, \"Discrete-Time Signal Processing\", "
               "1989, 8.7.\n\n"
               "Example:\n"
               ">>> speech = np.random.rand(16000).astype(np.float32)\n"
               ">>> room = np.exp(-np.arange(4000) / 800).astype(np.float32)\n"
               ">>> fn.convolve(speech, room, mode=\"causal\", normalize=\"energy\").shape\n"
               "(16000,)")
        .arg("mode", &Op::mode,
             "Which part of the n + m - 1 results: \"full\", all; \"same\", n from the middle; \"valid\", those that "
             "see the whole shorter operand; \"causal\", the first n, so that nothing comes later than before.")
        .arg("normalize", &Op::normalize,
             "Divides the response: \"none\"; \"peak\", by its largest magnitude; \"energy\", by its Euclidean norm.")
        .inputs(2)
        .input_names({"signal", "response"})
        .oracle("scipy");
  }
  void ready() override {
    if (mode != "full" && mode != "same" && mode != "valid" && mode != "causal")
      bad_argument("mode must be \"full\", \"same\", \"valid\" or \"causal\", got \"{}\"", mode);
    if (normalize != "none" && normalize != "peak" && normalize != "energy")
      bad_argument("normalize must be \"none\", \"peak\" or \"energy\", got \"{}\"", normalize);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    for (int k = 0; k < 2; ++k)
      if (in[k].dtype != DType::none && in[k].dtype != DType::float32)
        bad_type("the {} must be float32, got {}", k ? "response" : "signal", name_of(in[k].dtype));
    out[0] = in[0];
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    for (int k = 0; k < 2; ++k)
      if (in[k].size() < 1 || in[k].size() > 2)
        bad_argument("the {} must be (samples) or (samples, channels), got {} dimensions", k ? "response" : "signal",
                     in[k].size());
    const int64_t n = in[0][0], m = in[1][0];
    out[0] = in[0];
    out[0][0] = n < 0 || m < 0 ? -1 : results(n, m);
    if (in[1].size() < 2) return;
    const int64_t channels = in[0].size() > 1 ? in[0][1] : 1;
    if (channels >= 0 && in[1][1] > 1 && in[1][1] != channels)
      bad_argument("the response has {} channels, but the signal {}", in[1][1], channels);
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    if (out[0].volume() == 0) return;
    const auto channels_of = [](const Shape& s) { return s.size() > 1 ? s[1] : int64_t{1}; };
    const int64_t n = in[0].shape[0], m = in[1].shape[0], channels = channels_of(in[0].shape),
                  responses = channels_of(in[1].shape);
    const int64_t begin = mode == "same" ? (m - 1) / 2 : mode == "valid" ? std::min(n, m) - 1 : 0;
    const int64_t kind = normalize == "peak"     ? convolution::kPeakOfOne
                         : normalize == "energy" ? convolution::kEnergyOfOne
                                                 : convolution::kAsGiven;
    const ConvolutionPlan plan(m, out[0].shape[0]);
    const auto *x = in[0].as<const float>(), *h = in[1].as<const float>();
    if (to.at_once()) {
      double parts[convolution::kScaleParts];
      const float scale = convolution::response_scale(h, m * responses, kind, parts, Team{});
      for (int64_t c = 0; c < channels; ++c)
        convolve(best_target(), plan, {x + c, channels, n}, {responses > 1 ? h + c : h, responses, m}, scale, begin,
                 out[0].as<float>() + c, channels);
      return;
    }
    enqueue_convolution({x, h, out[0].as<float>()},
                        {n, channels, m, responses, plan.results, begin, plan.size, plan.step, plan.pairs()}, kind, to);
  }

 private:
  int64_t results(int64_t n, int64_t m) const {
    if (m == 0) bad_argument("the response has no samples");
    if (m > kMostTaps) bad_argument("the response has {} samples, more than the limit of {}", m, kMostTaps);
    if (n == 0) return 0;
    if (mode == "full") return n + m - 1;
    return mode == "valid" ? std::max(n, m) - std::min(n, m) + 1 : n;
  }
};
PENSTOCK_OPERATOR(Convolve);

}  // namespace penstock
