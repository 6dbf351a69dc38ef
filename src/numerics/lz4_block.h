// SPDX-License-Identifier: Apache-2.0
// A block of the LZ4 format (lz4_Block_format.md of its project), without frames, as the threads of a warp decode it
// together: all of them read the lengths, each copies a part. On the host a warp is one thread.
#pragma once
#include <cstdint>

#include "pixel/host_device.h"

namespace penstock {

struct Lz4Damage {
  int64_t what = 0;  // number of a sentence of refuse_lz4(); 0: none
  int64_t numbers[2] = {};
};

// Reads within the block alone; once it has ended, bytes are 0.
struct Lz4Reader {
  const uint8_t* from;
  int64_t size;
  int64_t at = 0;
  bool ended = false;
  PENSTOCK_HD int64_t byte() {
    if (at < size) return from[at++];
    ended = true;
    return 0;
  }
  // Of 4 bits, and more bytes where these are 15.
  PENSTOCK_HD int64_t length(int64_t n) {
    if (n < 15) return n;
    for (int64_t more = 255; more == 255;) {
      more = byte();
      n += more;
    }
    return n;
  }
};

// Writes exactly `room` bytes, or says what is wrong. Warp: copy(to, from, n); repeat(to, distance, n), which continues
// with what is so far before it, in rounds of `distance` bytes.
template <class Warp>
PENSTOCK_HD inline Lz4Damage decode_lz4_block(const uint8_t* from, int64_t size, uint8_t* to, int64_t room,
                                              const Warp& warp) {
  Lz4Reader in{from, size};
  int64_t done = 0;
  for (;;) {
    const int64_t token = in.byte(), literals = in.length(token >> 4);
    if (in.ended) return {1};
    if (literals > size - in.at) return {2};
    if (literals > room - done) return {3, {room}};
    if (literals > 0) warp.copy(to + done, from + in.at, literals);
    in.at += literals, done += literals;
    if (in.at == size) break;  // the last sequence has no match
    const int64_t low = in.byte(), distance = low | in.byte() << 8;
    if (in.ended) return {1};
    if (distance == 0 || distance > done) return {4, {distance, done}};
    const int64_t match = in.length(token & 15) + 4;
    if (in.ended) return {1};
    if (match > room - done) return {3, {room}};
    warp.repeat(to + done, distance, match);
    done += match;
  }
  if (done != room) return {5, {done, room}};
  return {};
}

}  // namespace penstock
