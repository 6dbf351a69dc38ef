// SPDX-License-Identifier: Apache-2.0
// The decoder's kernels as text, for what compiles them: a build beforehand (cuda/stages/texts.h), or NVRTC.
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

// One self-contained text, as Driver::kernel() takes it, with an entry for each.
const std::string& kernel_text();
const char* entry_of(Kernel kernel);

}  // namespace penstock::jpeg_gpu
