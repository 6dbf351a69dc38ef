// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/resampling.h"
#include "ops/shared/resample_rule.h"
#include "ops/shared/signal.h"

namespace penstock {

struct AudioResample : WholeOperator {
  PerSample<float> in_rate, out_rate, scale;
  PerSample<int64_t> out_length;
  float quality = 50.0f;
  bool limit_band = false;
  DType dtype = DType::none;

  static Schema<AudioResample> schema() {
    using Op = AudioResample;
    return Schema<Op>("audio_resample",
                      "Resamples a signal to another rate with a windowed sinc filter.\n\nInput: (n) or (n, channels); "
                      "integers of at most 32 bits, or float32. Output: n * out_rate / in_rate samples, rounded up, of "
                      "the same channels. As in DALI, frequencies above half of a lower out_rate are not removed: they "
                      "fold back, unless limit_band is true. The zero of unsigned integers is the middle of "
                      "their range. Source: J. O. Smith, \"Digital Audio Resampling\", 2002.\n\n"
                      "Example:\n"
                      ">>> fn.audio_resample(np.zeros(48000, np.float32), in_rate=48000.0, out_rate=16000.0).shape\n"
                      "(16000,)")
        .arg("in_rate", &Op::in_rate, "Sample rate of the input in hertz; needs out_rate.")
        .arg("out_rate", &Op::out_rate, "Sample rate of the output in hertz; needs in_rate.")
        .arg("scale", &Op::scale, "out_rate / in_rate, instead of the two rates.")
        .arg("out_length", &Op::out_length, "Length of the output in samples, instead of a rate.")
        .arg("quality", &Op::quality, "From 0 to 100: the sinc has 3 lobes at 0, 16 at 50 and 64 at 100.",
             within(0, 100))
        .arg("limit_band", &Op::limit_band,
             "Remove what a lower out_rate cannot hold: the sinc is stretched to 0.95 of its band.")
        .arg("dtype", &Op::dtype,
             "Type of the result; default: the input's. Values are scaled to the range of the type.")
        .oracle("dali");
  }
  void ready() override {
    if (in_rate.given() != out_rate.given()) bad_argument("in_rate and out_rate must be given together");
    if (in_rate.given() + scale.given() + out_length.given() != 1)
      bad_argument("give in_rate and out_rate, or scale, or out_length");
    resampler_ = std::make_shared<Resampler>(quality, limit_band);
  }
  void check(std::span<const ValueType> in) override {
    for (const DType t : {in[0].dtype, dtype})
      if (t != DType::none && t != DType::float32 && !(is_integer(t) && size_of(t) <= 4))
        bad_type("expected integers of at most 32 bits or float32, got {}", name_of(t));
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (dtype != DType::none) out[0].dtype = dtype;
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    if (in[0].size() < 1 || in[0].size() > 2)
      bad_argument("expected (samples) or (samples, channels), got {} dimensions", in[0].size());
    out[0] = in[0];
    if (in[0][0] >= 0) out[0][0] = length(s.index, in[0][0]);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& work) const override {
    if (out[0].volume() == 0) return;
    const int64_t n = in[0].shape[0];
    const int channels = static_cast<int>(in[0].shape.size() > 1 ? in[0].shape[1] : 1);
    const auto [from_rate, to_rate] = rates(s.index, n);
    const Resampler::Step step(from_rate, to_rate);
    const Resampler::Filter f = resampler_->filter(from_rate, to_rate);
    const ResampleRule::Coef c{step.whole, step.rest,          n,       channels, f.reach,
                               f.even,     resampler_->last(), f.scale, f.gain};
    const auto table = [r = resampler_] {
      const auto bytes = std::as_bytes(std::span(r->table()));
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    const auto host = [&, from_rate = from_rate, to_rate = to_rate] {
      const bool whole[] = {in[0].dtype == DType::float32, out[0].dtype == DType::float32};
      std::vector<float> signal(whole[0] ? 0 : in[0].volume()), result(whole[1] ? 0 : out[0].volume());
      dispatch(in[0].dtype, [&]<class T>(TypeTag<T>) {
        for (size_t i = 0; i < signal.size(); ++i) signal[i] = ResampleRule::from_range(in[0].as<const T>()[i]);
      });
      resampler_->run(whole[0] ? in[0].as<const float>() : signal.data(), n, channels, from_rate, to_rate,
                      whole[1] ? out[0].as<float>() : result.data(), out[0].shape[0]);
      dispatch(out[0].dtype, [&]<class T>(TypeTag<T>) {
        for (size_t i = 0; i < result.size(); ++i) out[0].as<T>()[i] = ResampleRule::to_range<T>(result[i]);
      });
    };
    work.map(in[0], out[0],
             {[] { return std::string(SampleRange::base_text) + ResampleRule::pixel_text; }, coef_bytes_of(c),
              resampler_, table, host});
  }

 private:
  std::pair<double, double> rates(int sample, int64_t n) const {
    if (scale.given()) return {1.0, scale[sample]};
    if (in_rate.given()) return {in_rate[sample], out_rate[sample]};
    return {static_cast<double>(std::max<int64_t>(n, 1)), static_cast<double>(out_length[sample])};
  }
  int64_t length(int sample, int64_t n) const {
    const auto [from, to] = rates(sample, n);
    if (out_length.given()) {
      if (to < 0) bad_argument("out_length must not be negative, got {}", to);
      return out_length[sample];
    }
    if (!(from > 0) || !(to > 0) || to / from > 1e6)
      bad_argument("the rates {} and {} must be positive and differ by less than a factor of a million", from, to);
    return Resampler::length(n, from, to);
  }
  std::shared_ptr<const Resampler> resampler_;
};
PENSTOCK_OPERATOR(AudioResample);

}  // namespace penstock
