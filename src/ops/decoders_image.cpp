// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/decoder_arguments.h"

namespace penstock {

struct DecodersImage : DecoderArguments<DecodeOperator> {
  bool cache_batch_copy = true, cache_debug = false;
  int64_t cache_size = 0, cache_threshold = 0;
  std::string cache_type;

  static Schema<DecodersImage> schema() {
    using Op = DecodersImage;
    constexpr const char* none = "Accepted without effect.";
    return Schema<Op>("decoders.image",
                      "Decodes images.\n\nFormats: " + image_formats_text() +
                          ". The first bytes of a file tell its format. Input: the bytes of a file, 1-d uint8. Output: "
                          "(height, width, channels), layout HWC. JPEG equals libjpeg-turbo with the accurate "
                          "transform and interpolated chroma. A file that cannot be decoded is a DataError that names "
                          "it.")
        .with(&decoder_arguments<Op>)
        .arg("cache_batch_copy", &Op::cache_batch_copy, none)
        .arg("cache_debug", &Op::cache_debug, none)
        .arg("cache_size", &Op::cache_size, none)
        .arg("cache_threshold", &Op::cache_threshold, none)
        .arg("cache_type", &Op::cache_type, none);
  }
  void ready() override { check_decoder(); }
};
PENSTOCK_OPERATOR(DecodersImage);

}  // namespace penstock
