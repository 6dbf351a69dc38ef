// SPDX-License-Identifier: Apache-2.0
#include "operator/signal_work.h"
#include "ops/shared/noise.h"

namespace penstock {

struct GaussianNoiseRule {
  PENSTOCK_PIXEL(
      struct Coef { float mean, stddev; }; template <class V> PENSTOCK_HD static V noisy(V in, V z, const Coef& c) {
        return fma(z, static_cast<V>(c.stddev), in + static_cast<V>(c.mean));
      });
};

// Adds a number of each pixel to its channels: elements as `outer` times channels, `inner` elements each.
struct SharedNoiseRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t channels;
        int64_t inner;
        const float* noise;
      };
      template <class T> PENSTOCK_HD static T noisy(T in, float noise) {
        return stored<T>(static_cast<NumberOf<T>>(in) + static_cast<NumberOf<T>>(noise));
      } template <class Out, class In>
      PENSTOCK_HD static Out value(const In* in, int64_t i, const Coef& c, const char*) {
        const int64_t row = i / c.inner;
        return noisy<In>(in[i], c.noise[row / c.channels * c.inner + (i - row * c.inner)]);
      });

  template <class T> static void run(const T* in, T* out, int64_t n, const Coef& c) {
    for (int64_t row = 0; row * c.inner < n; ++row) {
      const float* const noise = c.noise + row / c.channels * c.inner;
      for (int64_t i = 0; i < c.inner; ++i) *out++ = noisy<T>(*in++, noise[i]);
    }
  }
};

struct NoiseGaussian : NoiseOperator {
  PerSample<float> mean = 0.0f, stddev = 1.0f;
  bool per_channel = true;

  static Schema<NoiseGaussian> schema() {
    using Op = NoiseGaussian;
    return Schema<Op>("noise.gaussian",
                      std::string("Adds normally distributed noise to each element.") + kAbout + kNormal)
        .arg("mean", &Op::mean, "Mean of the noise.")
        .arg("stddev", &Op::stddev, "Standard deviation of the noise.", at_least(0))
        .arg("per_channel", &Op::per_channel,
             "False: all channels of a pixel get the same noise; the layout must have C, or the last axis counts.")
        .random()
        .keeps_positions()
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    NoiseOperator::infer(in, out);
    if (!per_channel && in[0].ndim >= 0) channel_axis(in[0].layout, in[0].ndim);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const float deviation = checked_deviation(stddev[s.index]);
    if (!per_channel) return add_to_pixels(in[0], out[0], {mean[s.index], deviation}, RandomValues::stream(s), to);
    field::add_normals<GaussianNoiseRule>(in[0], out[0], {mean[s.index], deviation}, RandomValues::stream(s), to);
  }

 private:
  static int channel_axis(const Layout& layout, int ndim) {
    const int axis = layout.empty() ? ndim - 1 : layout.find('C');
    if (axis < 0) bad_type("per_channel=False needs a layout with C, such as HWC, got '{}'", layout.str());
    return axis;
  }
  static void add_to_pixels(const View& in, const View& out, const GaussianNoiseRule::Coef& coef,
                            const RandomStream& stream, SampleWork& to) {
    if (out.volume() == 0) return;
    const AxisExtents e(in.shape, out.shape, channel_axis(in.layout, in.shape.size()));
    const Shape pixels{e.outer, e.inner};
    const View noise{to.scratch(static_cast<size_t>(e.outer * e.inner) * sizeof(float)),
                     DType::float32,
                     {},
                     pixels,
                     dense_strides(pixels)};
    SampleNumbers zero;
    zero.here = {0.0f};
    to.fill(noise, zero);
    to.then();
    field::add_normals<GaussianNoiseRule>(noise, noise, coef, stream, to);
    to.then();
    const SharedNoiseRule::Coef c{e.n, e.inner, noise.as<const float>()};
    to.map(in, out,
           {[] { return std::string(SharedNoiseRule::pixel_text); }, coef_bytes_of(c), nullptr, nullptr,
            [=] {
              dispatch(in.dtype, [&]<class T>(TypeTag<T>) {
                SharedNoiseRule::run(in.as<const T>(), out.as<T>(), in.volume(), c);
              });
            }});
  }
};
PENSTOCK_OPERATOR(NoiseGaussian);

}  // namespace penstock
