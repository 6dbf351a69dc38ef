// SPDX-License-Identifier: Apache-2.0
#include "codecs/format_list.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace penstock {

bool has_at(std::span<const uint8_t> file, size_t at, std::string_view bytes) {
  return file.size() >= at + bytes.size() && !std::memcmp(file.data() + at, bytes.data(), bytes.size());
}

void refuse_formats(const char* kind, const char* what, std::string_view one, std::string_view other) {
  std::fprintf(stderr, "two %s formats have the same %s: %s and %s\n", kind, what, std::string(one).c_str(),
               std::string(other).c_str());
  std::abort();
}

}  // namespace penstock
