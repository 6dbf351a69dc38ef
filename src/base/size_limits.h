// SPDX-License-Identifier: Apache-2.0
// Limits on the sizes that a file claims: a few bytes can claim gigabytes of pixels or samples. Checked when the
// header is read, before memory is allocated.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/error.h"
#include "base/notice.h"

namespace penstock {

// A picture or a frame, unless the caller sets another limit (DecodeParams has the same default). As Pillow, which
// warns above half of this number and refuses above it.
constexpr int64_t kMostPixels = 178956970;
// Values of one recording: 12 hours of stereo at 48,000 samples per second.
constexpr int64_t kMostSamples = int64_t{1} << 32;
// The largest limit that a caller may set, so that products with bytes and channels fit into 64 bits.
constexpr double kLargestLimit = 1099511627776.0;  // 2^40

constexpr const char* kMaxPixelsText =
    "An image with more pixels is a DataError; its header is checked before memory is allocated. More than half as "
    "many give a warning. Default: the limit of the pipeline, or 178,956,970 (warning: 89,478,485), as in Pillow.";

constexpr const char* kMaxFrameText =
    "A video whose header says that frames have more pixels is a DataError. Default: the limit of the pipeline, or "
    "178,956,970.";
constexpr const char* kMaxFramesText =
    "A sequence of more frames is a DataError, before memory is allocated. Default: the limit of the pipeline, or "
    "16,777,216.";
constexpr const char* kMaxSamplesText =
    "A recording of more values (samples times channels) is a DataError, before memory is allocated. Default: the "
    "limit of the pipeline, or 4,294,967,296.";

// Error (data) above `limit`; a notice above half of it.
inline void check_pixels(int64_t height, int64_t width, int64_t limit) {
  if (height > 0 && width > limit / height)
    bad_data("{} x {} pixels are more than the limit of {}", height, width, limit);
  if (height * width <= limit / 2) return;
  // Only the first ones: files from strangers must not use up the notices of the process (base/notice.cpp).
  constexpr int kMost = 16;
  static std::atomic<int> told{0};
  if (told < kMost && told.fetch_add(1) < kMost)
    notice(
        fmt::format("an image has {} x {} pixels, more than half of the limit of {}: a file of a few bytes can claim "
                    "that; max_pixels sets the limit",
                    height, width, limit));
}

}  // namespace penstock
