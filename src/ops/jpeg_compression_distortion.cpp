// SPDX-License-Identifier: Apache-2.0
#include "families/blocks/jpeg.h"
#include "operator/image_work.h"
#include "ops/shared/jpeg_rows.h"

namespace penstock {

struct JpegCompressionDistortion : ImageOperator {
  PerSample<int> quality = 50;

  static Schema<JpegCompressionDistortion> schema() {
    using Op = JpegCompressionDistortion;
    return Schema<Op>("jpeg_compression_distortion",
                      "Compresses an image to JPEG at a quality and decodes it, so that it shows JPEG "
                      "artifacts.\n\nThe result equals libjpeg-turbo's, bit for bit, with chroma subsampled 4:2:0. "
                      "Layouts: HWC, FHWC with three channels, RGB; the output keeps the layout. Types: uint8. Source: "
                      "ITU-T T.81, tables of its annex K.")
        .arg("quality", &Op::quality, "From 1 to 100; other numbers are clamped.")
        .keeps_positions()
        .oracle("dali, opencv");
  }
  void check(std::span<const ValueType> in) override {
    check_bytes(in[0]);
    const Layout layout = check_image(in[0]);
    if (in[0].ndim >= 0 && layout != Layout("HWC") && layout != Layout("FHWC"))
      bad_type("expected the layout HWC or FHWC, got '{}'", layout.str());
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const ImageRule::Extents e = image_extents(in[0].shape, in[0].layout);
    if (e.inner != 3) bad_argument("expected 3 channels, got {}", e.inner);
    if (in[0].volume() == 0) return;
    if (e.height > INT32_MAX - 16 || e.width > INT32_MAX - 16)
      bad_argument("an image of {} x {} pixels is too large", e.height, e.width);
    blocks::JpegRow row{in[0].as<const uint8_t>(),
                        out[0].as<uint8_t>(),
                        nullptr,
                        static_cast<int32_t>(e.height),
                        static_cast<int32_t>(e.width),
                        static_cast<int32_t>((e.width + 15) / 16),
                        static_cast<int32_t>((e.height + 15) / 16),
                        {}};
    row.planes = static_cast<uint8_t*>(to.scratch(static_cast<size_t>(e.outer * blocks::plane_bytes(row))));
    const int q = std::clamp(quality[s.index], 1, 100), percent = q < 50 ? 5000 / q : 200 - 2 * q;
    for (int i = 0; i < 128; ++i)
      row.steps[i] = static_cast<uint8_t>(std::clamp((kSteps[i] * percent + 50) / 100, 1, 255));
    blocks::preserve(
        row, e.outer, to, [=] { jpeg_blocks(best_target(), row, e.outer); },
        [=] { jpeg_colors(best_target(), row, e.outer); });
  }

 private:
  static constexpr int kSteps[128] = {
      16,  11,  10,  16,  24, 40, 51, 61, 12,  12,  14,  19,  26,  58, 60, 55, 14, 13, 16, 24,  40,  57, 69, 56, 14, 17,
      22,  29,  51,  87,  80, 62, 18, 22, 37,  56,  68,  109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87,
      103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,  17,  18, 24, 47, 99, 99, 99, 99,  18,  21, 26, 66, 99, 99,
      99,  99,  24,  26,  56, 99, 99, 99, 99,  99,  47,  66,  99,  99, 99, 99, 99, 99, 99, 99,  99,  99, 99, 99, 99, 99,
      99,  99,  99,  99,  99, 99, 99, 99, 99,  99,  99,  99,  99,  99, 99, 99, 99, 99, 99, 99,  99,  99, 99, 99};
};
PENSTOCK_OPERATOR(JpegCompressionDistortion);

}  // namespace penstock
