// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/encoder.h"

namespace penstock {

struct EncodersJpeg : EncodeOperator {
  PerSample<int> quality = 75;
  std::string subsampling = "420";
  bool optimize = false, progressive = false;
  int restart_interval = 0;

  static Schema<EncodersJpeg> schema() {
    using Op = EncodersJpeg;
    return Schema<Op>("encoders.jpeg",
                      "Encodes images as JPEG files.\n\nInput: RGB, or gray with one channel or none; uint8, layouts "
                      "HWC and HW. Output: the bytes of the file, 1-D uint8. They are those of libjpeg-turbo with the "
                      "same settings, as Pillow and OpenCV write them. An axis has at most 65500 pixels.\n\n"
                      "Example:\n"
                      ">>> images = [np.zeros((48, 64, 3), np.uint8), np.zeros((32, 32, 3), np.uint8)]\n"
                      ">>> files = fn.encoders.jpeg(images, quality=penstock.batch([np.int32(60), np.int32(90)]))\n"
                      ">>> [len(fn.decoders.image(file)) for file in files]\n"
                      "[48, 32]")
        .arg("quality", &Op::quality, "From 1, the smallest file, to 100.", within(1, 100))
        .arg("subsampling", &Op::subsampling,
             "\"444\": chroma for each pixel; \"422\": for two pixels of a row; \"420\": for two rows, too; \"gray\": "
             "none.")
        .arg("optimize", &Op::optimize, "Compute the Huffman tables of each file: smaller, and slower.")
        .arg("progressive", &Op::progressive, "Write a progressive file.")
        .arg("restart_interval", &Op::restart_interval,
             "Blocks of a minimum coded unit between two restart markers; 0: no markers.", within(0, 65535))
        .batch_wide()
        .host_only("the code of a block depends on that of the block before")
        .oracle("pillow, opencv");
  }
  void ready() override {
    if (subsampling != "444" && subsampling != "422" && subsampling != "420" && subsampling != "gray")
      bad_argument("subsampling must be \"444\", \"422\", \"420\" or \"gray\", got \"{}\"", subsampling);
  }
  std::vector<uint8_t> encode(const Picture& picture, int sample) const override {
    const JpegSampling sampling = subsampling == "444"   ? JpegSampling::s444
                                  : subsampling == "422" ? JpegSampling::s422
                                  : subsampling == "420" ? JpegSampling::s420
                                                         : JpegSampling::gray;
    return encode_jpeg(picture, {quality[sample], sampling, optimize, progressive, restart_interval});
  }
};
PENSTOCK_OPERATOR(EncodersJpeg);

}  // namespace penstock
