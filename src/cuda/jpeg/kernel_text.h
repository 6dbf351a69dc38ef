// SPDX-License-Identifier: Apache-2.0
// The decoder's kernels as text, for their compiler: ahead of time (cuda/stages/texts.h), or NVRTC.
#pragma once
#include <string>

namespace penstock::jpeg_gpu {

// In the order in which they run.
enum Kernel : int {
  kCountKept,
  kWriteWords,
  kFindRestarts,
  kLayOutSegments,
  kWriteSegments,
  kSynchronize,
  kMakeEntries,
  kDecodeBlocks,
  kSumDc,
  kTransformBlocks,
  kWritePixels,
  kKernels
};

// One self-contained text, as for Driver::kernel(), with an entry for each.
const std::string& kernel_text();
const char* entry_of(Kernel kernel);

}  // namespace penstock::jpeg_gpu
