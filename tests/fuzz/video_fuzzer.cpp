// SPDX-License-Identifier: Apache-2.0
// Any bytes as a video, through the wrapper of FFmpeg: frames of the size that it says, the same whichever way they are
// reached, or an error of the data. FFmpeg itself is not instrumented; pictures are small, so that it has little to do.
#include <cstdlib>

#include "codecs/video/frame_choice.h"
#include "codecs/video/video_decoder.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int64_t kMostPixels = 128 * 128, kMostPackets = 64;
  const std::vector<uint8_t> exact(data, data + size);
  fuzz::may_refuse([&] {
    const auto file = VideoFile::open([&] { return std::make_shared<VideoInMemory>(exact); }, kMostPixels);
    const int64_t total = file->frames();
    if (total < 1 || file->width() < 1 || file->height() < 1 || int64_t{file->width()} * file->height() > kMostPixels)
      std::abort();
    if (file->packets().size() > kMostPackets) return;
    for (int64_t n = 0; n < total; ++n) {
      const int64_t start = file->start_of(n);
      if (start < 0 || start > file->packet_of(n) || file->packets()[file->packet_of(n)].frame != n) std::abort();
      if (file->seconds(n) != file->seconds(n)) std::abort();
    }
    const size_t bytes = static_cast<size_t>(file->width()) * file->height() * 3;
    std::vector<uint8_t> jumped(bytes * 3);
    const int64_t frames[] = {total - 1, kFilled, total / 2};
    const int64_t fill[] = {7};
    VideoDecoder decoder(file, 1);
    decode_frames(decoder, frames, fill, jumped.data());
    if (jumped[bytes] != 7) std::abort();
    decoder.read(std::span(frames, 1), [&](size_t) { return jumped.data(); });
  });
  return 0;
}
