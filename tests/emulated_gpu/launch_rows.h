// SPDX-License-Identifier: Apache-2.0
// Launches a kernel of whole operators or of a family that a test has compiled for the host.
#pragma once
#include "emulated_gpu/fibers.h"
//
#include <cstddef>
#include <cstring>
#include <vector>

#include "launch/entry.h"

namespace penstock::whole {

inline unsigned thread() { return fibers::thread_index().x; }
inline unsigned threads() { return kThreads; }
inline int block() { return static_cast<int>(fibers::block_index().x); }
inline void wait_for_block() { fibers::wait_for_block(); }
inline void wait_for_warp() { fibers::wait_for_warp(); }
inline char* shared_bytes() {
  alignas(16) static thread_local char bytes[48 * 1024];
  return bytes;
}

// A launch of rows with so much work, `each` units of it in a block.
template <class Row, class Kernel> void launch(const std::vector<Row>& rows, const std::vector<int64_t>& work,
                                               int64_t each, const Kernel& kernel, const void* data = nullptr,
                                               size_t bytes = 0) {
  std::vector<EntryRow<Row>> entries;
  std::vector<int32_t> starts{0};
  for (size_t i = 0; i < rows.size(); ++i) {
    entries.push_back({work[i], rows[i]});
    starts.push_back(starts.back() + static_cast<int32_t>((work[i] + each - 1) / each));
  }
  const auto rounded = [](size_t n) { return static_cast<int64_t>((n + 15) / 16 * 16); };
  TableHead head{static_cast<int64_t>(rows.size()), rounded(sizeof head), 0, each, 0};
  head.rows = head.starts + rounded(starts.size() * sizeof(int32_t));
  head.data = head.rows + rounded(entries.size() * sizeof entries[0]);
  std::vector<std::max_align_t> table(static_cast<size_t>(head.data + rounded(bytes)) / sizeof(std::max_align_t) + 1);
  char* at = reinterpret_cast<char*>(table.data());
  std::memcpy(at, &head, sizeof head);
  std::memcpy(at + head.starts, starts.data(), starts.size() * sizeof(int32_t));
  std::memcpy(at + head.rows, entries.data(), entries.size() * sizeof entries[0]);
  if (bytes) std::memcpy(at + head.data, data, bytes);
  fibers::run(static_cast<uint32_t>(starts.back()), kThreads, [&] { start<Row>(at, kernel); });
}

}  // namespace penstock::whole
