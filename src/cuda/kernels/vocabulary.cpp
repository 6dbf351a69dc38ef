// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/vocabulary.h"

namespace penstock {

// Generated at build time.
const std::vector<VocabularyPart>& kernel_source_parts();

const std::string& vocabulary(bool transcendental) {
  // Never destroyed: threads may compile while the program ends.
  static const auto& basic = *new std::string(text_of_parts(vocabulary_parts(), "pixel/transcendental.h"));
  static const auto& all = *new std::string(text_of_parts(vocabulary_parts(), "pixel/stored.h"));
  return transcendental ? all : basic;
}

std::string kernel_source(const std::string& header) {
  return with_includes("#include \"cuda/kernels/" + header + "\"\n", {&kernel_source_parts()}, &vocabulary_parts());
}

}  // namespace penstock
