// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/scan_bytes.h"

#include <cstring>

namespace penstock::jpeg {

void ScanBytes::load(Bytes coded, int64_t first_segment, int64_t segments, const Kernels& kernels, bool list_removed) {
  if (memory.size() < coded.size() + kReadAhead + 128) memory.resize(coded.size() + kReadAhead + 128);
  // Two elements for a restart marker, which has two bytes, and one for a stuffed zero.
  if (list_removed && removed.size() < coded.size() + 2) removed.resize(coded.size() + 2);
  segment_ends.clear();
  at_marker = false;
  const uint8_t *from = coded.data(), *const end = from + coded.size();
  uint8_t *const start = memory.data(), *to = start;
  size_t listed = 0;
  for (int64_t segment = first_segment;; ++segment) {
    const uint8_t* stopped = nullptr;
    uint32_t count = 0;
    uint8_t* const done = kernels.destuff(from, end, to, &stopped, list_removed ? &removed[listed] : nullptr, &count);
    if (list_removed) {
      if (to != start)
        for (uint32_t i = 0; i < count; ++i) removed[listed + i] += static_cast<uint32_t>(to - start);
      listed += count;
    }
    to = done;
    from = stopped;
    if (end - from < 2) break;
    if (segment + 1 >= segments || from[1] != 0xD0 + (segment & 7)) {
      at_marker = from[1] != 0xFF;
      break;
    }
    segment_ends.push_back(static_cast<uint32_t>(to - start));
    if (list_removed) removed[listed] = removed[listed + 1] = static_cast<uint32_t>(to - start) - 1, listed += 2;
    from += 2;
  }
  removed_count = listed;
  size = to - start;
  file_bytes = from - coded.data();
  std::memset(to, 0, kReadAhead);
}

void ScanBytes::append(uint8_t byte) {
  memory[size++] = byte;
  memory[size + kReadAhead - 1] = 0;
}

void ScanBytes::shrink(size_t most) {
  if (memory.capacity() > most) memory = {};
  if (removed.capacity() * sizeof(uint32_t) > most) removed = {};
  if (segment_ends.capacity() * sizeof(uint32_t) > most) segment_ends = {};
}

}  // namespace penstock::jpeg
