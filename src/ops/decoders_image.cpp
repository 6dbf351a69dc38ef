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
        .arg("cache_debug", &Op::cache_debug, "Accepted without effect: Pipeline.stats() has the numbers of the cache.")
        .arg("cache_size", &Op::cache_size,
             "Keep decoded pictures in memory, up to so many megabytes (of 2^20 bytes), where they are decoded: on the "
             "CPU or on the GPU. A picture that is kept is known by the name of its file or record: the file is not "
             "read again, and a change of it is not seen. No effect on bytes without a name, and on immediate calls.",
             within(0, 1 << 30))
        .arg("cache_threshold", &Op::cache_threshold, "Keep only pictures of at least so many bytes.",
             within(0, int64_t{1} << 40))
        .arg("cache_type", &Op::cache_type,
             "Which pictures are kept. 'threshold' or '': those that come first. 'largest': the largest ones of the "
             "first epoch, from the second on.");
  }
  void ready() override {
    check_decoder();
    if (!cache_type.empty() && cache_type != "threshold" && cache_type != "largest")
      bad_argument("cache_type must be 'threshold' or 'largest', got '{}'", cache_type);
    if (cache_size > 0 && decode == "fast")
      bad_argument("decode='fast' decodes a smaller picture for each size, which cannot be kept: omit cache_size");
  }
};
PENSTOCK_OPERATOR(DecodersImage);

}  // namespace penstock
