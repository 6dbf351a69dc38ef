// SPDX-License-Identifier: Apache-2.0
#include "cuda/video/kernel_text.h"

#include "cuda/kernels/vocabulary.h"

namespace penstock::video_gpu {

// Generated at build time.
const std::vector<VocabularyPart>& kernel_parts();

const std::string& kernel_text() {
  static const auto& text = *new std::string(text_of_parts(kernel_parts()));
  return text;
}

}  // namespace penstock::video_gpu
