// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/kernel_source.h"

#include "cuda/kernels/vocabulary.h"

namespace penstock {

// Generated at build time.
const std::vector<VocabularyPart>& kernel_source_parts();

std::string kernel_source(const char* header) { return kernel_source({&header, 1}); }

std::string kernel_source(std::span<const char* const> headers) {
  std::string text;
  for (const std::string header : headers) text += "#include \"cuda/kernels/" + header + "\"\n";
  return with_includes(text, {&kernel_source_parts()}, &vocabulary_parts());
}

}  // namespace penstock
