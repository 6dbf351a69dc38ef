// SPDX-License-Identifier: Apache-2.0
#include "data/permutation.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "data/hash.h"
#include "pixel/philox.h"

namespace penstock {

Permutation::Permutation(int64_t size, uint64_t seed, uint32_t epoch, uint32_t stream) : size_(size) {
  if (size < 0 || size >= int64_t{1} << 62) fail(ErrorKind::internal, "a permutation of {} elements", size);
  const RandomStream random = random_stream({.seed = seed, .epoch = epoch, .loop = stream}, RandomPurpose::order);
  if (size <= table_size) {
    for (int64_t i = 0; i < size; ++i) table_[i] = static_cast<uint8_t>(i);
    for (int64_t i = size - 1; i > 0; --i) std::swap(table_[i], table_[below(random.draw64(i), i + 1)]);
    return;
  }
  const auto n = static_cast<uint64_t>(size);
  rows_ = static_cast<uint64_t>(std::sqrt(static_cast<double>(n)));
  while (rows_ * rows_ < n) ++rows_;
  columns_ = (n + rows_ - 1) / rows_;
  for (int i = 0; i < rounds; ++i) key_[i] = random.draw64(i);
}

int64_t Permutation::operator()(int64_t index) const {
  if (index < 0 || index >= size_) fail(ErrorKind::internal, "index {} of a permutation of {}", index, size_);
  if (size_ <= table_size) return table_[index];
  auto x = static_cast<uint64_t>(index);
  do {
    uint64_t left = x / columns_, right = x % columns_;
    for (int i = 0; i < rounds; i += 2) {
      left += below(mix64(right ^ key_[i]), rows_);
      if (left >= rows_) left -= rows_;
      right += below(mix64(left ^ key_[i + 1]), columns_);
      if (right >= columns_) right -= columns_;
    }
    x = left * columns_ + right;
  } while (x >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(x);
}

}  // namespace penstock
