// SPDX-License-Identifier: Apache-2.0
// The reader of frames, compiled by the host's compiler: an element of a place is that channel of that pixel.
#include "emulated_gpu/one_thread.h"

#include "cuda/kernels/frame_source.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace penstock {
namespace {

// NV12, and YUYV in frames of a sequence.
struct PairsOfChroma {
  static constexpr int kKind = frame::chroma, kHalfX = 1, kHalfY = 1, kStep = 1, kChromaStep = 2, kChannels = 3;
  static constexpr bool kBlueFirst = true, kFrames = false;
  static frame::Matrix matrix() { return {1220542, 1673527, -409993, -852492, 2116026, 16, {}, {}, {}, 0, 0, 20}; }
};
struct PackedChroma : PairsOfChroma {
  static constexpr int kHalfY = 0, kStep = 2, kChromaStep = 4, kChannels = 4;
  static constexpr bool kBlueFirst = false, kFrames = true;
};

std::vector<uint8_t> bytes_of_frames(size_t n) {
  std::mt19937 random(1);
  std::vector<uint8_t> bytes(n);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
  return bytes;
}

template <class Format, class Index>
FrameReader<Format, Index> reader_of(const std::vector<uint8_t>& bytes, const FrameSourceRow& row) {
  FrameReader<Format, Index> reader;
  reader.begin(reinterpret_cast<const char*>(bytes.data()), row);
  return reader;
}

TEST(FrameReader, reads_the_channels_of_a_frame) {
  const int w = 10, h = 6;
  const auto bytes = bytes_of_frames(w * h * 3 / 2);
  const FrameSourceRow row{{0, w * h, w * h + 1}, {w, w}, 0, 6, 3, 0};
  const auto reader = reader_of<PairsOfChroma, int32_t>(bytes, row);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const int chroma = w * h + y / 2 * w + x / 2 * 2;
      const auto p = frame::of_chroma(PairsOfChroma::matrix(), bytes[y * w + x], bytes[chroma], bytes[chroma + 1]);
      const int32_t expected[3] = {p.blue, p.green, p.red}, place = y << 6 | x << 2;
      float all[3];
      (reader + place).pixel(0, all);
      for (int c = 0; c < 3; ++c) {
        EXPECT_EQ(reader[place + c], expected[c]);
        EXPECT_EQ(*(reader + (place + c)), expected[c]);
        EXPECT_EQ(all[c], static_cast<float>(expected[c]));
      }
    }
}

TEST(FrameReader, goes_from_frame_to_frame) {
  const int w = 6, h = 3, frames = 4, frame_bytes = w * h * 2;
  const auto bytes = bytes_of_frames(frame_bytes * frames);
  const FrameSourceRow row{{0, 1, 3}, {2 * w, 2 * w}, frame_bytes, 5, 2, 1 << 7};  // begins at frame 1
  const auto reader = reader_of<PackedChroma, int64_t>(bytes, row);
  for (int f = -1; f + 1 < frames; ++f)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const uint8_t* const pair = bytes.data() + (f + 1) * frame_bytes + y * 2 * w + x / 2 * 4;
        const auto p = frame::of_chroma(PackedChroma::matrix(), pair[x % 2 * 2], pair[1], pair[3]);
        const int32_t expected[4] = {p.red, p.green, p.blue, 255};
        const int64_t place = int64_t{f} * (1 << 7) + (y << 5) + (x << 2);
        for (int c = 0; c < 4; ++c) EXPECT_EQ(reader[place + c], expected[c]);
      }
}

}  // namespace
}  // namespace penstock
