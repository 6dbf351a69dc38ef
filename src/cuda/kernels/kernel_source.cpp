// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/kernel_source.h"

#include "base/error.h"
#include "cuda/kernels/vocabulary.h"

namespace penstock {

// Generated at build time.
const std::vector<VocabularyPart>& kernel_source_parts();

std::string kernel_source(std::string_view header) {
  for (const VocabularyPart& p : kernel_source_parts())
    if (const std::string_view path = p.header; path.substr(path.rfind('/') + 1) == header)
      return without_includes(p.text);
  fail(ErrorKind::internal, "{} is not a header of kernels", header);
}

std::string kernel_source(std::span<const char* const> headers) {
  std::string text;
  for (const char* header : headers) text += kernel_source(header);
  return text;
}

}  // namespace penstock
