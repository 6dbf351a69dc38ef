// SPDX-License-Identifier: Apache-2.0
// Numbers at positions that a file names, which need not lie in it.
#pragma once
#include <cstdint>
#include <cstring>

#include "data/container.h"

namespace penstock {

// The number at byte `at`, in the order of this machine. Error (data) with the text `why` if it is not inside.
template <class T> T number_at(Bytes bytes, int64_t at, const char* why) {
  if (at < 0 || at > static_cast<int64_t>(bytes.size()) - static_cast<int64_t>(sizeof(T))) bad_data("{}", why);
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace penstock
