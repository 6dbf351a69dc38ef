// SPDX-License-Identifier: Apache-2.0
// Any bytes as a video, through the wrapper of FFmpeg: frames of the size that it says, the same whichever way they are
// reached, or an error of the data. FFmpeg itself is not instrumented; pictures are small, so that it has little to do.
#include "fuzz_containers.h"
#include "fuzz_videos.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> exact(data, data + size);
  fuzz::may_refuse([&] {
    fuzz::check_video(VideoFile::open([&] { return std::make_shared<VideoInMemory>(exact); }, fuzz::kMostPixels));
  });
  return 0;
}
