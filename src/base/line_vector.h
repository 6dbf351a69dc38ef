// SPDX-License-Identifier: Apache-2.0
// A vector whose memory begins at a cache line, for loops over whole registers: at other places each access of 64 bytes
// touches two lines.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace penstock {

template <class T> struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  LineAllocator() = default;
  template <class U> LineAllocator(const LineAllocator<U>&) noexcept {}
  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* p, size_t) noexcept { ::operator delete(p, kLine); }
  bool operator==(const LineAllocator&) const = default;
};

template <class T> using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace penstock
