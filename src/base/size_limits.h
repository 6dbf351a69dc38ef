// SPDX-License-Identifier: Apache-2.0
// How large a file's claims may be: a few bytes can say that they are gigabytes of pixels or samples. Checked by the
// headers, before memory is taken.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/error.h"
#include "base/notice.h"

namespace penstock {

// A picture or a frame, unless the caller says another number (DecodeParams has the same): as Pillow, which warns above
// a number and refuses above twice of it.
constexpr int64_t kMostPixels = 178956970;
// Values of one recording: 12 hours of stereo at 48,000 samples a second.
constexpr int64_t kMostSamples = int64_t{1} << 32;
// What the caller may say, so that products with bytes and channels fit into 64 bits.
constexpr double kLargestLimit = 1099511627776.0;  // 2^40

constexpr const char* kMaxPixelsText =
    "An image of more pixels is a DataError, by its header, before memory is taken; one of more than half as many is "
    "a warning. The default is that of the pipeline, else 178,956,970 (the warning: 89,478,485), as Pillow has it.";

constexpr const char* kMaxFrameText =
    "A video whose frames have more pixels is a DataError, by its header. The default is that of the pipeline, else "
    "178,956,970.";
constexpr const char* kMaxFramesText =
    "A sequence of more frames is a DataError, before memory is taken. The default is that of the pipeline, else "
    "16,777,216.";
constexpr const char* kMaxSamplesText =
    "A recording of more values (samples times channels) is a DataError, before memory is taken. The default is that "
    "of the pipeline, else 4,294,967,296.";

// Error (data) above `limit`; above half of it a notice.
inline void check_pixels(int64_t height, int64_t width, int64_t limit) {
  if (height > 0 && width > limit / height)
    bad_data("{} x {} pixels are more than the limit of {}", height, width, limit);
  if (height * width <= limit / 2) return;
  // Of the first ones only: files of strangers must not use up what the process can say at all (base/notice.cpp).
  constexpr int kMost = 16;
  static std::atomic<int> told{0};
  if (told < kMost && told.fetch_add(1) < kMost)
    notice(
        fmt::format("an image has {} x {} pixels, more than half of the limit of {}: a file of a few bytes can "
                    "claim so; max_pixels sets the limit",
                    height, width, limit));
}

}  // namespace penstock
