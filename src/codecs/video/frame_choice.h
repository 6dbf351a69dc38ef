// SPDX-License-Identifier: Apache-2.0
// Which frames make a sequence, and what stands for those behind a video's end.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock {

enum class FramePadding { none, constant, edge, reflect_1001, reflect_101 };
constexpr const char* kFramePaddings =
    "'none', 'constant', 'edge' ('repeat'), 'reflect_1001' ('symmetric') or 'reflect_101' ('reflect')";
constexpr int64_t kFilled = -1;                    // instead of a frame: the fill value
constexpr int64_t kMostFrames = int64_t{1} << 24;  // of one sequence

FramePadding parse_frame_padding(const std::string& name);  // Error (argument) naming the known ones

// What is shown for frame `frame` of a video of `end` frames: itself, or behind the end the last frame, a frame before
// it (back and forth, with the first and last frame twice or once), or kFilled.
int64_t frame_or_padding(int64_t frame, int64_t end, FramePadding padding);
// `count` frames from `first` on, `stride` apart; those behind the end by frame_or_padding, or left out with none.
std::vector<int64_t> choose_frames(int64_t first, int64_t stride, int64_t count, int64_t end, FramePadding padding);

class VideoDecoder;
// Decodes the frames (in any order, kFilled among them) into `out`, one after the other; each is decoded once.
void decode_frames(VideoDecoder& decoder, std::span<const int64_t> frames, std::span<const int64_t> fill_value,
                   uint8_t* out);
// One value, or one for each of three channels, each 0 to 255; Error (argument) where it is not.
void check_fill_value(std::span<const int64_t> fill_value);
void fill_frame(std::span<const int64_t> fill_value, int64_t pixels, uint8_t* out);

}  // namespace penstock
