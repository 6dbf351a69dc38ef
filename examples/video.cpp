// SPDX-License-Identifier: Apache-2.0
// A camera or a video decoder gives NV12 of BT.709; a network wants RGB of its own size as float32, and an encoder
// wants NV12 again, with a text over it. Frames are read in place. tests/test_examples.py makes the same calls in
// Python and compares the bytes.
#include <cstdio>

#include "crc_of_batch.h"
#include "drawn_frames.h"
#include "penstock/fn.h"

using namespace penstock;

int main() {
  try {
    constexpr int64_t frame_count = 4, height = 120, width = 160, size = 64;
    // Luma and, below it, rows of both chromas: a frame has height * 3 / 2 rows of bytes.
    std::vector<uint8_t> camera = examples::drawn_frame(frame_count * height * 3 / 2, width, 1);
    const Batch nv12 = Batch::wrap(camera.data(), {frame_count, height * 3 / 2, width, 1}, "HWC");

    fn::ColorSpaceConversionArguments to_rgb;
    to_rgb.image_type = ColorFormat::nv12;
    to_rgb.output_type = ColorFormat::rgb;
    to_rgb.color_spec = ColorSpec::bt709;
    const Batch rgb = fn::color_space_conversion(nv12, to_rgb);

    std::vector<float> input(static_cast<size_t>(frame_count * 3 * size * size));  // the engine's
    CallOptions options;
    options.into = {Batch::wrap(input.data(), {frame_count, 3, size, size}, "CHW")};
    fn::crop_mirror_normalize(fn::resize(rgb, {.size = {size, size}}), {.scale = 1.0 / 255}, options);
    std::printf("input %08x\n", crc32(0, input.data(), input.size() * sizeof(float)));

    fn::DrawTextArguments words;
    words.text = {"camera 1"};
    words.positions = {8, 8};
    words.scale = 2;
    words.color = {255, 255, 0};
    fn::ColorSpaceConversionArguments to_nv12;
    to_nv12.image_type = ColorFormat::rgb;
    to_nv12.output_type = ColorFormat::nv12;
    to_nv12.color_spec = ColorSpec::bt709;
    const Batch encoded = fn::color_space_conversion(fn::draw_text(rgb, words), to_nv12);
    std::printf("nv12 %08x\n", examples::crc_of(encoded, 1));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
