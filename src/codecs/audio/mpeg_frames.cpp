// SPDX-License-Identifier: Apache-2.0
#include "codecs/audio/mpeg_frames.h"

#include <algorithm>
#include <cstring>

#include "codecs/byte_order.h"

namespace penstock {

namespace {

constexpr size_t kHead = 4;

// In kbit/s, starting with code 1.
constexpr int kRates[2][3][14] = {{{32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
                                   {32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
                                   {32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}},
                                  {{32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
                                   {8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
                                   {8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}}};

// 0 if the header does not determine it.
size_t frame_bytes(AudioBytes file) {
  if (!is_mpeg_frame(file)) return 0;
  const int version = file[1] >> 3 & 3, layer = 4 - (file[1] >> 1 & 3), rate_code = file[2] >> 4;
  if (rate_code == 0) return 0;
  constexpr int kSamplesASecond[] = {44100, 48000, 32000};
  const int halving = version == 3 ? 0 : version == 2 ? 1 : 2, padding = file[2] >> 1 & 1;
  const int rate = kSamplesASecond[file[2] >> 2 & 3] >> halving;
  const int bits = kRates[halving > 0][layer - 1][rate_code - 1] * 1000;
  if (layer == 1) return static_cast<size_t>(12 * bits / rate + padding) * 4;
  return static_cast<size_t>((layer == 3 && halving > 0 ? 72 : 144) * bits / rate + padding);
}

}  // namespace

bool is_mpeg_frame(AudioBytes file) {
  return file.size() >= kHead && file[0] == 0xFF && (file[1] & 0xE0) == 0xE0 && (file[1] & 0x18) != 0x08 &&
         (file[1] & 0x06) != 0 && (file[2] & 0xF0) != 0xF0 && (file[2] & 0x0C) != 0x0C;
}

bool begins_with_mpeg_frames(AudioBytes file) {
  constexpr int kFrames = 3;
  const auto alike = [](AudioBytes a, AudioBytes b) {  // the same version, layer and sample rate
    return (a[1] & 0xFE) == (b[1] & 0xFE) && (a[2] & 0x0C) == (b[2] & 0x0C);
  };
  AudioBytes rest = file;
  for (int i = 0; i < kFrames; ++i) {
    const size_t bytes = frame_bytes(rest);
    if (bytes == 0 || !alike(file, rest) || bytes > rest.size()) return false;
    rest = rest.subspan(bytes);
    if (rest.empty()) return true;
  }
  return true;
}

size_t find_mpeg_frames(AudioBytes file) {
  constexpr size_t kFurthest = size_t{1} << 16;
  for (size_t at = 0; at < std::min(kFurthest, file.size()); ++at) {
    const void* found = std::memchr(&file[at], 0xFF, std::min(kFurthest, file.size()) - at);
    if (!found) break;
    at = static_cast<size_t>(static_cast<const uint8_t*>(found) - file.data());
    if (begins_with_mpeg_frames(file.subspan(at))) return at;
  }
  return file.size();
}

uint64_t declared_mpeg_bytes(AudioBytes frames) {
  const size_t bytes = std::min(frame_bytes(frames), frames.size());
  const AudioBytes first = frames.first(bytes);
  for (const char* mark : {"Xing", "Info"}) {
    const auto found = std::search(first.begin(), first.end(), mark, mark + 4);
    const auto at = static_cast<size_t>(found - first.begin());
    if (first.size() < at + 16) continue;
    const uint32_t fields = be32(&first[at + 4]);  // 1: the number of frames; 2: of bytes
    if (fields & 2) return be32(&first[at + (fields & 1 ? 12 : 8)]);
  }
  return 0;
}

}  // namespace penstock
