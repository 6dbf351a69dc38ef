// SPDX-License-Identifier: Apache-2.0
// Indexes of videos in memory, found again by their content.
#pragma once
#include <span>

#include "codecs/video/video_file.h"

namespace penstock {

// Like VideoFile::open. Bytes that were opened before, in whatever memory, are not read again: their index is among the
// most recently used ones, up to 64 MB in total. `owner` keeps the bytes alive; null: the caller does.
std::shared_ptr<const VideoFile> open_video_in_memory(std::span<const uint8_t> bytes,
                                                      std::shared_ptr<const void> owner = nullptr,
                                                      int64_t max_pixels = kMostVideoPixels);

}  // namespace penstock
