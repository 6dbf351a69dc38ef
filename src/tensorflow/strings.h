// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstring>
#include <string_view>

#include "tensorflow/c_api.h"

namespace penstock::tensorflow {

// The bytes of an element of a tensor of strings. The two lowest bits of its first byte say where they are; the size is
// above them, in that byte or in the whole first word.
inline std::string_view bytes_of(const TF_TString& text) {
  const auto* raw = reinterpret_cast<const char*>(&text);
  const uint64_t first = text.words[0];
  const auto pointer = [&](int word) { return reinterpret_cast<const char*>(text.words[word]); };
  switch (first & 3) {
    case 0: return {raw + 1, static_cast<size_t>((first & 0xff) >> 2)};  // in the element itself
    case 1: return {pointer(2), static_cast<size_t>(first >> 2)};        // in memory of its own
    case 3: return {pointer(1), static_cast<size_t>(first >> 2)};        // in memory of another
    default: {                                                           // at an offset from the element
      const auto size = static_cast<uint32_t>(first), offset = static_cast<uint32_t>(first >> 32);
      return {raw + offset, size >> 2};
    }
  }
}

}  // namespace penstock::tensorflow
