// SPDX-License-Identifier: Apache-2.0
// Reads the bits of a header, the most significant first, as in H.264, HEVC and AV1.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace penstock {

// A NAL unit without its emulation prevention bytes.
inline std::vector<uint8_t> without_emulation_prevention(std::span<const uint8_t> nal) {
  std::vector<uint8_t> plain;
  size_t zeros = 0;
  for (const uint8_t byte : nal) {
    const bool guard = zeros >= 2 && byte == 3;
    if (!guard) plain.push_back(byte);
    zeros = !guard && byte == 0 ? zeros + 1 : 0;
  }
  return plain;
}

class HeaderBits {
 public:
  HeaderBits(std::span<const uint8_t> bytes, const char* what) : bytes_(bytes), what_(what) {}

  uint32_t read(int count) {  // up to 32
    uint64_t v = 0;
    for (int i = 0; i < count; ++i, ++at_) {
      if (at_ >= bytes_.size() * 8) bad_data("{} ends early", what_);
      v = v << 1 | (bytes_[at_ / 8] >> (7 - at_ % 8) & 1);
    }
    return static_cast<uint32_t>(v);
  }
  bool flag() { return read(1); }
  void skip(int count) {
    for (; count > 32; count -= 32) read(32);
    read(count);
  }
  uint32_t exp_golomb() {  // ue(v); se(v) has the same bits. AV1's uvlc() is the same code
    int zeros = 0;
    while (!flag())
      if (++zeros > 31) bad_data("{} contains a number of more than 32 bits", what_);
    return (uint32_t{1} << zeros) - 1 + read(zeros);
  }
  // A count for a loop: each iteration takes at least one bit.
  uint32_t count(uint32_t most) {
    const uint32_t n = exp_golomb();
    if (n > most) bad_data("{} contains a count of {}, which is too large", what_, n);
    return n;
  }

 private:
  std::span<const uint8_t> bytes_;
  const char* what_;
  size_t at_ = 0;
};

}  // namespace penstock
