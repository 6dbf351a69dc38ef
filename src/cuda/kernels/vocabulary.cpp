// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/vocabulary.h"

namespace penstock {

static std::string parts_before(const std::string& header) {
  std::string text;
  for (const VocabularyPart& p : vocabulary_parts()) {
    if (p.header == header) break;
    text += p.text;
  }
  return text;
}

const std::string& vocabulary(bool transcendental) {
  // Never destroyed: threads may compile while the program ends.
  static const auto& basic = *new std::string(parts_before("pixel/transcendental.h"));
  static const auto& all = *new std::string(parts_before("pixel/stored.h"));
  return transcendental ? all : basic;
}

const std::string& whole_vocabulary() {
  static const auto& text = *new std::string(parts_before(""));
  return text;
}

}  // namespace penstock
