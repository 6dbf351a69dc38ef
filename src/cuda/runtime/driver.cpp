// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/driver.h"

#include <cstring>

namespace penstock {

std::shared_ptr<void> Driver::table_on_device(int device, const void* table, size_t bytes, StreamHandle stream) {
  auto there = allocate_shared(memory(device), bytes, stream);
  std::shared_ptr<void> pinned;
  // From pageable memory the host would wait for many bytes, and a graph would read whatever is there when it runs.
  if (bytes > kCommandBytes || is_recording(device, stream)) {
    pinned = allocate_shared(pinned_memory(), bytes, stream);
    std::memcpy(pinned.get(), table, bytes);
  }
  copy(device, there.get(), pinned ? pinned.get() : table, bytes, stream);
  return there;
}

}  // namespace penstock
