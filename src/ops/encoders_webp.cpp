// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/encoder.h"

namespace penstock {

struct EncodersWebp : EncodeOperator {
  PerSample<float> quality = 80.0f;
  bool lossless = false;
  int method = 4;

  static Schema<EncodersWebp> schema() {
    using Op = EncodersWebp;
    return Schema<Op>("encoders.webp",
                      "Encodes images as WebP files.\n\nInput: RGB or RGBA; uint8, layout HWC. Output: the bytes of "
                      "the file, 1-D uint8, from the libwebp that is installed. An axis has at most 16383 pixels.\n\n"
                      "Example:\n"
                      ">>> image = np.random.randint(0, 256, (48, 64, 3), np.uint8)\n"
                      ">>> file = fn.encoders.webp(image, lossless=True)\n"
                      ">>> bool((fn.decoders.image(file) == image).all())\n"
                      "True")
        .arg("quality", &Op::quality, "From 0, the smallest file, to 100; with lossless the effort, as method.",
             within(0, 100))
        .arg("lossless", &Op::lossless, "Keep all pixels, also the colors of transparent ones.")
        .arg("method", &Op::method, "From 0, the fastest, to 6, the smallest file.", within(0, 6))
        .batch_wide()
        .host_only("the code of a block depends on that of the block before")
        .oracle("pillow");
  }
  std::vector<uint8_t> encode(const Picture& picture, int sample) const override {
    return encode_webp(picture, {quality[sample], lossless, method});
  }
};
PENSTOCK_OPERATOR(EncodersWebp);

}  // namespace penstock
