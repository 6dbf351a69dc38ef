// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/decoder_arguments.h"
#include "ops/shared/random_window.h"

namespace penstock {

struct DecodersImageRandomCrop : DecoderArguments<DecodeMapOperator>, RandomWindow {
  static Schema<DecodersImageRandomCrop> schema() {
    using Op = DecodersImageRandomCrop;
    return Schema<Op>(
               "decoders.image_random_crop",
               "Decodes a window of random area and aspect ratio out of images.\n\nThe operator decodes only what the "
               "window needs; the pixels equal those of the whole image. Input and output: as for decoders.image.")
        .with(&decoder_arguments<Op>)
        .with(&random_window_arguments<Op>);
  }
  void ready() override {
    check_decoder();
    check_random_window();
  }
  void map(const SampleContext& s, Placement& p) const override {
    const Window w = draw(s, p.extent(0), p.extent(1));
    p.window(0, w.y, w.height);
    p.window(1, w.x, w.width);
  }
  int64_t out_extent(const SampleContext&, char axis, int64_t) const override {
    return axis == 'C' ? known_channels() : -1;
  }
};
PENSTOCK_OPERATOR(DecodersImageRandomCrop);

}  // namespace penstock
