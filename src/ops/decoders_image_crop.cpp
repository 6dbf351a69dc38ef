// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/crop_window.h"
#include "ops/shared/decoder_arguments.h"
#include "ops/shared/out_of_bounds.h"

namespace penstock {

struct DecodersImageCrop : DecoderArguments<DecodeMapOperator>, CropWindow {
  static Schema<DecodersImageCrop> schema() {
    using Op = DecodersImageCrop;
    return Schema<Op>(
               "decoders.image_crop",
               "Decodes a window of a fixed size out of images.\n\nThe operator decodes only what the window needs; "
               "the result equals crop after decoders.image. Input and output: as for decoders.image.")
        .with(&decoder_arguments<Op>)
        .with(&crop_window_arguments<Op>);
  }
  void ready() override {
    check_decoder();
    check_crop_window();
  }
  void map(const SampleContext& s, Placement& p) const override {
    const OutOfBounds error;
    each_window(s.index, p, [&](int dim, int64_t start, int64_t extent) { error.window(p, dim, start, extent); });
  }
  int64_t out_extent(const SampleContext& s, char axis, int64_t in) const override {
    return axis == 'C' ? known_channels() : known_extent(s.index, axis, in);
  }
};
PENSTOCK_OPERATOR(DecodersImageCrop);

}  // namespace penstock
