// SPDX-License-Identifier: Apache-2.0
// How often something took how long: counts by duration, an eighth of an octave wide, so that a percentile is right to
// 7 % whatever the durations are.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace penstock {

class DurationCounts {
 public:
  void add(int64_t ns, int64_t times = 1) {
    counts_[place_of(ns)] += static_cast<uint32_t>(times);
    total_ += times;
    if (ns > most_) most_ = ns;
  }
  void add(const DurationCounts& o) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += o.counts_[i];
    total_ += o.total_;
    if (o.most_ > most_) most_ = o.most_;
  }
  int64_t total() const { return total_; }
  int64_t most() const { return most_; }
  // The duration that the share (0 to 1) does not exceed; 0 without any.
  int64_t percentile(double share) const {
    int64_t left = static_cast<int64_t>(share * static_cast<double>(total_));
    for (size_t i = 0; i < counts_.size(); ++i)
      if ((left -= counts_[i]) < 0) return middle_of(i) < most_ ? middle_of(i) : most_;
    return most_;
  }

 private:
  static constexpr int kMostBits = 46;  // 19 hours
  static size_t place_of(int64_t ns) {
    if (ns < 8) return static_cast<size_t>(ns < 0 ? 0 : ns);
    const auto bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(ns)));
    if (bits > kMostBits) return (kMostBits - 3) * 8 + 7;
    return static_cast<size_t>((bits - 3) * 8 + ((ns >> (bits - 4)) & 7));
  }
  static int64_t middle_of(size_t place) {
    if (place < 8) return static_cast<int64_t>(place);
    const int shift = static_cast<int>(place / 8) - 1;
    return ((int64_t{8} + static_cast<int64_t>(place % 8)) << shift) + ((int64_t{1} << shift) >> 1);
  }
  std::array<uint32_t, (kMostBits - 3) * 8 + 8> counts_{};
  int64_t total_ = 0, most_ = 0;
};

}  // namespace penstock
