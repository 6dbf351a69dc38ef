// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/encoder.h"

namespace penstock {

struct EncodersPng : EncodeOperator {
  PerSample<int> level = 6;
  std::string filter = "adaptive", strategy;

  static Schema<EncodersPng> schema() {
    using Op = EncodersPng;
    return Schema<Op>("encoders.png",
                      "Encodes images as PNG files, without loss.\n\nInput: gray, gray and alpha, RGB, RGBA; uint8 or "
                      "uint16, layouts HWC and HW. Output: the bytes of the file, 1-D uint8.\n\n"
                      "Example:\n"
                      ">>> mask = np.uint16([[0, 1000], [2000, 65535]])\n"
                      ">>> file = fn.encoders.png(mask)\n"
                      ">>> fn.decoders.image(file, output_type=\"gray\", dtype=\"uint16\")[..., 0].tolist()\n"
                      "[[0, 1000], [2000, 65535]]")
        .arg("level", &Op::level, "Of zlib: from 0, not compressed, and 1, the fastest, to 9, the smallest file.",
             within(0, 9))
        .arg("filter", &Op::filter,
             "What is subtracted from a pixel before compression: \"none\", \"sub\" (the pixel at the left), \"up\", "
             "\"average\", \"paeth\", or \"adaptive\": for each row what seems best.")
        .arg("strategy", &Op::strategy,
             "Of zlib: \"default\", \"filtered\", \"huffman\", \"rle\", \"fixed\"; default: \"filtered\" where there "
             "is a filter. \"rle\" is fast.")
        .batch_wide()
        .host_only("the code of a row depends on the rows before")
        .oracle("pillow, opencv");
  }
  void ready() override {
    index_of("filter", filter, kFilters);
    if (!strategy.empty()) index_of("strategy", strategy, kStrategies);
  }
  bool takes(DType type) const override { return type == DType::uint8 || type == DType::uint16; }
  const char* types() const override { return "uint8 or uint16"; }
  std::vector<uint8_t> encode(const Picture& picture, int sample) const override {
    return encode_png(picture, {level[sample], static_cast<PngFilter>(index_of("filter", filter, kFilters)),
                                strategy.empty() ? -1 : index_of("strategy", strategy, kStrategies)});
  }

 private:
  // In the order of PngFilter, and of zlib's numbers.
  static constexpr std::array<std::string_view, 6> kFilters{"none", "sub", "up", "average", "paeth", "adaptive"};
  static constexpr std::array<std::string_view, 5> kStrategies{"default", "filtered", "huffman", "rle", "fixed"};
  static int index_of(const char* argument, const std::string& name, std::span<const std::string_view> names) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) bad_argument("{} must be one of {}, got \"{}\"", argument, fmt::join(names, ", "), name);
    return static_cast<int>(at - names.begin());
  }
};
PENSTOCK_OPERATOR(EncodersPng);

}  // namespace penstock
