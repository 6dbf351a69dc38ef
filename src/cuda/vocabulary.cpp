// SPDX-License-Identifier: Apache-2.0
#include "cuda/vocabulary.h"

namespace penstock {

const std::string& vocabulary(bool transcendental) {
  static const auto join = [](bool all) {
    std::string text;
    for (const VocabularyPart& p : vocabulary_parts()) {
      if (!all && std::string(p.header) == "pixel/transcendental.h") break;  // and what is written with it
      text += p.text;
    }
    return text;
  };
  static const std::string basic = join(false), whole = join(true);
  return transcendental ? whole : basic;
}

}  // namespace penstock
