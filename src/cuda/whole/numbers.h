// SPDX-License-Identifier: Apache-2.0
// Texts that kernels of whole operators share.
#pragma once
#include <string>

#include "cuda/whole/launches.h"

namespace penstock {

extern const char* const kNumbersOfArguments;  // argument_at(values, type, i)
int64_t argument_type(DType t);                // its `type`

// `body` with %ENTRY% replaced by the lines that find a block's entry.
inline std::string with_entry(std::string body) {
  const std::string mark = "%ENTRY%";
  for (size_t at; (at = body.find(mark)) != std::string::npos;) body.replace(at, mark.size(), kFindEntry);
  return body;
}

}  // namespace penstock
