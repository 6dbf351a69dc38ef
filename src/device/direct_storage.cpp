// SPDX-License-Identifier: Apache-2.0
#include "device/direct_storage.h"

#include "base/error_of.h"
#include "base/gpu_library.h"

namespace penstock {

DirectStorage* direct_storage(std::string& why) {
  why = gpu_library().why_not();
  if (!why.empty()) return nullptr;
  using Entry = DirectStorage* (*)(std::string*);
  const auto entry = reinterpret_cast<Entry>(gpu_library_symbol(kDirectStorageEntry));
  if (!entry) {
    why = "the CUDA part of Penstock has none";
    return nullptr;
  }
  DirectStorage* made = nullptr;
  if (const auto error = error_of([&] { made = entry(&why); })) why = error->what();
  return made;
}

}  // namespace penstock
