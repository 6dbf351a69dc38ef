// SPDX-License-Identifier: Apache-2.0
// Rows of an image on the CPU, with what windows see beside them.
#pragma once
#include <cstring>
#include <vector>

#include "families/window/geometry.h"

namespace penstock::window {

// Fetches memory that is written soon: while it comes, the row is made.
inline void fetch_ahead(const std::byte* memory, int64_t bytes) {
  constexpr int64_t kLine = 64;
  for (int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(memory + i, 1);
}

// Elements are of 1, 2, 4 or 8 bytes. Without depth. `fill`: an element outside a constant border; null: 0.
class RowEnds {
 public:
  RowEnds(const Window& w, size_t element_bytes, const void* fill = nullptr)
      : window_(w),
        size_(static_cast<int64_t>(element_bytes)),
        length_(w.image.width * w.image.inner),
        left_(w.x * w.image.inner) {
    const int64_t channels = w.image.inner;
    outside_.reserve(static_cast<size_t>((w.width - 1) * channels));
    const auto add = [&](int64_t begin, int64_t end) {
      for (int64_t x = begin; x < end; ++x) {
        const int64_t from = ImageRule::bordered(x, w.image.width, w.border);
        for (int64_t c = 0; c < channels; ++c) outside_.push_back(from < 0 ? -1 : from * channels + c);
      }
    };
    add(-w.x, 0);
    add(w.image.width, w.image.width + w.width - 1 - w.x);
    if (w.border != kBorderConstant) return;
    blank_.resize(static_cast<size_t>(length_ * size_));
    if (!fill) return;
    std::memcpy(fill_, fill, element_bytes);
    for (int64_t i = 0; i < length_; ++i) std::memcpy(&blank_[static_cast<size_t>(i * size_)], fill, element_bytes);
  }
  // The row of a plane that is seen at y, which may lie outside.
  const std::byte* row(const std::byte* plane, int64_t y) const {
    const int64_t from = ImageRule::bordered(y, window_.image.height, window_.border);
    return from < 0 ? blank_.data() : plane + from * length_ * size_;
  }
  // Elements [begin, end) of a row, which may lie outside it.
  void extend(std::byte* to, const std::byte* row, int64_t begin, int64_t end) const {
    const int64_t first = std::clamp<int64_t>(0, begin, end), last = std::clamp(length_, first, end);
    if (begin < first) take(to, row, &outside_[static_cast<size_t>(begin + left_)], first - begin);
    if (first < last)
      std::memcpy(to + (first - begin) * size_, row + first * size_, static_cast<size_t>((last - first) * size_));
    if (last < end)
      take(to + (last - begin) * size_, row, &outside_[static_cast<size_t>(left_ + last - length_)], end - last);
  }

 private:
  void take(std::byte* to, const std::byte* row, const int64_t* indices, int64_t n) const {
    const auto each = [&](auto fill) {
      using T = decltype(fill);
      std::memcpy(&fill, fill_, sizeof fill);
      T* const o = reinterpret_cast<T*>(to);
      const T* const from = reinterpret_cast<const T*>(row);
      for (int64_t i = 0; i < n; ++i) o[i] = indices[i] < 0 ? fill : from[indices[i]];
    };
    size_ == 1 ? each(uint8_t{}) : size_ == 2 ? each(uint16_t{}) : size_ == 4 ? each(uint32_t{}) : each(uint64_t{});
  }
  const Window window_;
  const int64_t size_, length_, left_;
  std::vector<int64_t> outside_;  // the elements of a row that are seen left of it, then right of it; -1: none
  std::vector<std::byte> blank_;  // a row outside a constant border
  std::byte fill_[8] = {};
};

}  // namespace penstock::window
