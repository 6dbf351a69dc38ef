// SPDX-License-Identifier: Apache-2.0
// Which frames make a sequence, and what replaces frames after the end of a video.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock {

enum class FramePadding { none, constant, edge, reflect_1001, reflect_101 };
constexpr const char* kFramePaddings =
    "'none', 'constant', 'edge' ('repeat'), 'reflect_1001' ('symmetric') or 'reflect_101' ('reflect')";
constexpr int64_t kFilled = -1;                    // in place of a frame: the fill value
constexpr int64_t kMostFrames = int64_t{1} << 24;  // in one sequence

FramePadding parse_frame_padding(const std::string& name);  // Error (argument) that lists the known ones

// What to show for frame `frame` of a video of `end` frames: the frame itself, or after the end the last frame, a frame
// before it (back and forth, with the first and last frame twice or once), or kFilled.
int64_t frame_or_padding(int64_t frame, int64_t end, FramePadding padding);
// `count` frames from `first` on, `stride` apart; those after the end by frame_or_padding, or omitted with
// FramePadding::none.
std::vector<int64_t> choose_frames(int64_t first, int64_t stride, int64_t count, int64_t end, FramePadding padding);

class VideoDecoder;
// Decodes the frames (in any order, may include kFilled) to `out`, contiguous; each frame is decoded once.
void decode_frames(VideoDecoder& decoder, std::span<const int64_t> frames, std::span<const int64_t> fill_value,
                   uint8_t* out);
// One value, or one for each of three channels, each 0 to 255; else Error (argument).
void check_fill_value(std::span<const int64_t> fill_value);
void fill_frame(std::span<const int64_t> fill_value, int64_t pixels, uint8_t* out);

}  // namespace penstock
