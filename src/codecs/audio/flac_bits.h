// SPDX-License-Identifier: Apache-2.0
// The bits of FLAC frames, the most significant bit of each number first.
#pragma once
#include <bit>
#include <cstring>

#include "codecs/audio/audio_decoder.h"

namespace penstock {

// Reading continues past the end, where all bits are zero; is_past_end() reports it.
struct FlacBits {
  AudioBytes bytes;
  size_t at = 0;        // the first byte that is not completely in the window
  uint64_t window = 0;  // the next `count` bits at the top; the bits below are the following ones or zeros
  int count = 0;

  // Leaves 56 to 63 bits.
  void refill() {
    if (at + 8 <= bytes.size()) return refill_inside();
    for (; count < 56; count += 8, ++at)
      if (at < bytes.size()) window |= uint64_t{bytes[at]} << (56 - count);
  }
  void refill_inside() {  // requires eight more bytes
    uint64_t next;
    std::memcpy(&next, bytes.data() + at, sizeof next);
    if constexpr (std::endian::native == std::endian::little) next = __builtin_bswap64(next);
    window |= next >> count;
    at += static_cast<size_t>(63 - count) >> 3;
    count |= 56;
  }
  void drop(int n) { window <<= n, count -= n; }  // at most 63, and at most `count`

  uint64_t take(int n) {  // at most 56
    if (count < n) refill();
    const uint64_t v = window >> 1 >> (63 - n);
    drop(n);
    return v;
  }
  int64_t take_signed(int n) {  // 1 to 56
    if (count < n) refill();
    const int64_t v = static_cast<int64_t>(window) >> (64 - n);
    drop(n);
    return v;
  }
  uint64_t take_zeros() {  // counts the zeros before a one, and takes the one too
    for (uint64_t zeros = 0;;) {
      refill();
      const int some = std::countl_zero(window);
      if (some < count) {
        drop(some + 1);
        return zeros + some;
      }
      zeros += count;
      drop(count);
      if (is_past_end()) return zeros;
    }
  }
  void align() { drop(count & 7); }
  size_t byte() const { return at - static_cast<size_t>(count >> 3); }  // the next whole byte
  bool is_past_end() const { return at * 8 - static_cast<size_t>(count) > bytes.size() * 8; }
};

}  // namespace penstock
