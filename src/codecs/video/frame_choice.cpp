// SPDX-License-Identifier: Apache-2.0
#include "codecs/video/frame_choice.h"

#include <algorithm>
#include <cstring>

#include "codecs/video/video_decoder.h"

namespace penstock {

FramePadding parse_frame_padding(const std::string& name) {
  if (name == "none" || name.empty()) return FramePadding::none;
  if (name == "constant") return FramePadding::constant;
  if (name == "edge" || name == "repeat") return FramePadding::edge;
  if (name == "reflect_1001" || name == "symmetric") return FramePadding::reflect_1001;
  if (name == "reflect_101" || name == "reflect") return FramePadding::reflect_101;
  bad_argument("pad_mode must be {}, got '{}'", kFramePaddings, name);
}

int64_t frame_or_padding(int64_t frame, int64_t end, FramePadding padding) {
  if (frame < end) return frame;
  switch (padding) {
    case FramePadding::edge: return end - 1;
    case FramePadding::reflect_1001: {
      const int64_t k = frame % (2 * end);
      return k < end ? k : 2 * end - 1 - k;
    }
    case FramePadding::reflect_101: {
      if (end == 1) return 0;
      const int64_t k = frame % (2 * end - 2);
      return k < end ? k : 2 * end - 2 - k;
    }
    default: return kFilled;
  }
}

std::vector<int64_t> choose_frames(int64_t first, int64_t stride, int64_t count, int64_t end, FramePadding padding) {
  if (count > kMostFrames) bad_argument("{} frames in one sequence are more than the limit of {}", count, kMostFrames);
  if (padding == FramePadding::none) count = std::min(count, first < end ? (end - first + stride - 1) / stride : 0);
  std::vector<int64_t> out(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) out[k] = frame_or_padding(first + k * stride, end, padding);
  return out;
}

void check_fill_value(std::span<const int64_t> v) {
  if (v.size() != 1 && v.size() != 3)
    bad_argument("fill_value needs one value or one for each of 3 channels, got {}", v.size());
  for (const int64_t x : v)
    if (x < 0 || x > 255) bad_argument("fill_value must be between 0 and 255, got {}", x);
}

void fill_frame(std::span<const int64_t> v, int64_t pixels, uint8_t* out) {
  if (v.size() == 1) {
    std::memset(out, static_cast<int>(v[0]), static_cast<size_t>(pixels) * 3);
    return;
  }
  for (int64_t i = 0; i < pixels * 3; ++i) out[i] = static_cast<uint8_t>(v[i % 3]);
}

void decode_frames(VideoDecoder& decoder, std::span<const int64_t> frames, std::span<const int64_t> fill_value,
                   uint8_t* out) {
  const int64_t pixels = int64_t{decoder.file().width()} * decoder.file().height(), bytes = pixels * 3;
  std::vector<int64_t> places(frames.size());  // sorted by their frames
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
  std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) { return frames[a] < frames[b]; });
  std::vector<int64_t> once, first;  // each frame, and the position that it is decoded to
  for (const int64_t place : places) {
    if (frames[place] < 0) {
      fill_frame(fill_value, pixels, out + place * bytes);
    } else if (once.empty() || once.back() != frames[place]) {
      once.push_back(frames[place]);
      first.push_back(place);
    }
  }
  decoder.read(once, [&](size_t k) { return out + first[k] * bytes; });
  size_t k = 0;
  for (const int64_t place : places) {
    if (frames[place] < 0) continue;
    while (once[k] != frames[place]) ++k;
    if (place != first[k]) std::memcpy(out + place * bytes, out + first[k] * bytes, static_cast<size_t>(bytes));
  }
}

}  // namespace penstock
