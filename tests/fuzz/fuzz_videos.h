// SPDX-License-Identifier: Apache-2.0
// What a video must keep to, however it was opened.
#pragma once
#include <cstdlib>

#include "codecs/video/frame_choice.h"
#include "codecs/video/video_decoder.h"

namespace penstock::fuzz {

constexpr int64_t kMostPixels = 128 * 128, kMostPackets = 64;  // FFmpeg is not instrumented: it has little to do

inline void check_video(const std::shared_ptr<const VideoFile>& file) {
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
  // Threads as users have them: FFmpeg asserts in them what it does not without.
  VideoDecoder decoder(file, 2 + static_cast<int>(total % 3));
  decode_frames(decoder, frames, fill, jumped.data());
  if (jumped[bytes] != 7) std::abort();
  decoder.read(std::span(frames, 1), [&](size_t) { return jumped.data(); });
}

}  // namespace penstock::fuzz
