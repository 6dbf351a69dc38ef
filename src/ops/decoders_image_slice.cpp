// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/decoder_arguments.h"
#include "ops/shared/out_of_bounds.h"
#include "ops/shared/slice_window.h"

namespace penstock {

struct DecodersImageSlice : DecoderArguments<DecodeMapOperator>, SliceWindow {
  static Schema<DecodersImageSlice> schema() {
    using Op = DecodersImageSlice;
    return Schema<Op>(
               "decoders.image_slice",
               "Decodes a given window of images.\n\nThe operator decodes only what the window needs; the result "
               "equals slice after decoders.image. Inputs: the bytes of a file, and optionally the anchor and the "
               "shape of the window. Output: as for decoders.image.\n\n"
               "Example:\n"
               "image = fn.decoders.image_slice(encoded, start=[100, 200], shape=[224, 224], axis_names=\"HW\")")
        .with(&decoder_arguments<Op>)
        .with(&slice_window_arguments<Op>)
        .input_names({"encoded", "anchor", "shape"});
  }
  void ready() override {
    check_decoder();
    check_slice_window();
  }
  void map(const SampleContext& s, Placement& p) const override {
    const OutOfBounds error;
    for (const Window& w : windows(s.index, "HWC", p.shape())) {
      if (w.dim > 1) bad_argument("images are decoded in windows along H and W only, not along channels");
      error.window(p, w.dim, w.start, w.extent);
    }
  }
  int64_t out_extent(const SampleContext& s, char axis, int64_t in) const override {
    return axis == 'C' ? known_channels() : known_extent(s.index, "HWC", axis, in);
  }
};
PENSTOCK_OPERATOR(DecodersImageSlice);

}  // namespace penstock
