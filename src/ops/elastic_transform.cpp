// SPDX-License-Identifier: Apache-2.0
#include "families/gather/computed_field.h"
#include "ops/shared/displacement_field.h"
#include "ops/shared/distortion.h"
#include "ops/shared/random_streams.h"
#include "ops/shared/sampling.h"

namespace penstock {

struct ElasticTransform : Distortion {
  PerSample<float> alpha = 50.0f, sigma = 5.0f;

  static Schema<ElasticTransform> schema() {
    using Op = ElasticTransform;
    return Schema<Op>(
               "elastic_transform",
               "Distorts images by random, smooth displacements.\n\nOutput (x, y) is the input at (x + dx, y + "
               "dy). Each of dx and dy is alpha times a field of its own: noise that is uniform from -1 to 1, "
               "smoothed by a Gaussian whose window ends at 4 sigma (Simard et al., \"Best practices for "
               "convolutional neural networks\", 2003). All frames and channels of a sample have the same field. "
               "torchvision's ElasticTransform moves the pixels of a square image by half as much. The random "
               "numbers come from Philox4x32-10, keyed on the seed, the epoch, the sample and, unless the "
               "operator has a seed of its own, the operator. Sums of uint8, int8, bool, float16 and float32 "
               "are in float32, those of other types in float64. Layouts: HW, HWC, CHW, each also with a "
               "leading F; the output keeps the layout. Types: all.")
        .arg("alpha", &Op::alpha, "What the smoothed noise is multiplied by, in pixels.")
        .arg("sigma", &Op::sigma, "Standard deviation of the Gaussian, in pixels; 0: noise is not smoothed.",
             within(0, kMostSigma))
        .with(&distortion_arguments<Op>)
        .random();
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const gather::Images images = gather::images_of(in[0].shape, in[0].layout);
    check_numbers(s);
    if (out[0].volume() == 0) return;
    const gather::Field field = field_of(s, images.height, images.width, to);
    gather::sample<gather::FieldRule>(in[0], out[0], {field.x, field.y, images.width}, sampling(), to);
  }

  // As displacement_field.h says.
  void displace(const SampleContext& s, int32_t height, int32_t width, float* dx, float* dy) const {
    check_numbers(s);
    const gather::Field field = field_of(s, height, width, host_work());
    const int64_t plane = int64_t{height} * width;
    std::copy_n(field.x, plane, dx), std::copy_n(field.y, plane, dy);
  }

 private:
  static constexpr int kMostSigma = gather::kMostRadius / 4;
  void check_numbers(const SampleContext& s) const {
    if (!std::isfinite(alpha[s.index])) bad_argument("alpha must be finite");
    if (const float deviation = sigma[s.index]; !(deviation >= 0 && deviation <= kMostSigma))
      bad_argument("sigma must be from 0 to {}, got {}", kMostSigma, deviation);
  }
  gather::Field field_of(const SampleContext& s, int32_t height, int32_t width, SampleWork& to) const {
    return gather::random_field(stream_of(s), height, width, sigma[s.index], alpha[s.index], to);
  }
};
PENSTOCK_OPERATOR(ElasticTransform);
PENSTOCK_DISPLACEMENTS(ElasticTransform);

}  // namespace penstock
