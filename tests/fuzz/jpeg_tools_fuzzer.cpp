// SPDX-License-Identifier: Apache-2.0
// Any bytes for the tools: verify has an answer, and what transcode writes is a file without a fault and of the same
// size.
#include <cstdlib>

#include "codecs/transcode_jpeg.h"
#include "codecs/verify_image.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int64_t kMostPixels = 1 << 18;
  const std::vector<uint8_t> file(data, data + size);
  verify_image(file, "a.jpg", kMostPixels);
  is_worth_baseline(file);
  try {
    const auto baseline = to_baseline_jpeg(file, kMostPixels);
    if (!verify_image(baseline, "a.jpg", kMostPixels).empty() || is_worth_baseline(baseline)) std::abort();
    const ImageInfo a = probe_image(file, {}), b = probe_image(baseline, {});
    if (a.height != b.height || a.width != b.width || a.channels != b.channels) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
