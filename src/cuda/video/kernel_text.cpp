// SPDX-License-Identifier: Apache-2.0
#include "cuda/video/kernel_text.h"

#include "cuda/kernels/vocabulary.h"

namespace penstock::video_gpu {

// Generated at build time.
const std::vector<VocabularyPart>& kernel_parts();

const std::string& kernel_text() {
  static const auto& text = *new std::string([] {
    std::string all;
    for (const VocabularyPart& p : kernel_parts()) all += p.text;
    return all;
  }());
  return text;
}

}  // namespace penstock::video_gpu
