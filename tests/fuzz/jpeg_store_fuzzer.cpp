// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of entropy indexes, its sums unchecked: what is read stays inside them, and points ascend.
#include <algorithm>
#include <cstdlib>

#include "codecs/jpeg/index_store_format.h"

using namespace penstock;

static void read_entry(std::span<const uint8_t> entry, EntropyIndex& index) {
  const std::vector<uint8_t> exact(entry.begin(), entry.end());  // so that the sanitizer sees its end
  const auto head = read_entry_head(exact, false);
  if (!head || !read_entry_points(exact, *head, index)) return;
  if (index.points.size() * 2 > entry.size()) std::abort();
  for (size_t i = 1; i < index.points.size(); ++i)
    if (index.points[i].bit <= index.points[i - 1].bit) std::abort();
  if (index.points.back().bit >= uint64_t{index.scan_bytes} * 8) std::abort();
  // Written again, it is read as the same.
  std::vector<uint8_t> again;
  append_entry(head->record, index, again);
  EntropyIndex back;
  const auto same = read_entry_head(again);
  if (!same || !(same->record == head->record) || !read_entry_points(again, *same, back) || !(back == index))
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> file(data, size);
  EntropyIndex index;
  for (size_t at = 0; at + kSegmentHeaderBytes <= size;) {
    const auto header = read_segment_header(file.subspan(at), false);
    if (!header) {
      at += kIndexAlignment;
      continue;
    }
    const auto rest = file.subspan(at);
    const std::vector<uint8_t> directory(
        rest.begin() + kSegmentHeaderBytes,
        rest.begin() +
            std::min<int64_t>(static_cast<int64_t>(rest.size()), kSegmentHeaderBytes + header->directory_bytes()));
    int entries = 0;
    for (const DirectoryEntry& e : read_directory(*header, directory, false)) {
      if (int64_t{e.offset} + e.bytes > header->bytes) std::abort();
      if (size_t{e.offset} + e.bytes <= rest.size() && ++entries < 64)
        read_entry(rest.subspan(e.offset, e.bytes), index);
    }
    at += static_cast<size_t>(header->bytes);
  }
  read_entry(file, index);
  return 0;
}
