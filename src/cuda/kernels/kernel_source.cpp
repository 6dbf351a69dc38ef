// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/kernel_source.h"

#include "cuda/kernels/vocabulary.h"

namespace penstock {

// Generated at build time.
const std::vector<VocabularyPart>& kernel_source_parts();

std::string kernel_source(const std::string& header) {
  return with_includes("#include \"cuda/kernels/" + header + "\"\n", {&kernel_source_parts()}, &vocabulary_parts());
}

}  // namespace penstock
