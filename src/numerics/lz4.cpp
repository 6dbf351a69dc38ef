// SPDX-License-Identifier: Apache-2.0
#include "numerics/lz4.h"

#include <cstring>

#include "base/error.h"

namespace penstock {

void decode_lz4(std::span<const uint8_t> block, std::span<uint8_t> to) {
  size_t at = 0, done = 0;
  const auto byte = [&]() -> size_t {
    if (at == block.size()) bad_data("the LZ4 block ends within a sequence");
    return block[at++];
  };
  const auto length = [&](size_t n) {  // of 4 bits, and more bytes where these are 15
    if (n < 15) return n;
    for (size_t more = 255; more == 255;) n += more = byte();
    return n;
  };
  for (;;) {
    const size_t token = byte(), literals = length(token >> 4);
    if (literals > block.size() - at) bad_data("the LZ4 block ends within literals");
    if (literals > to.size() - done) bad_data("the LZ4 block holds more than {} bytes", to.size());
    if (literals > 0) std::memcpy(to.data() + done, block.data() + at, literals);
    at += literals, done += literals;
    if (at == block.size()) break;  // the last sequence has no match
    const size_t low = byte(), distance = low | byte() << 8;
    if (distance == 0 || distance > done)
      bad_data("an LZ4 match starts {} bytes back, but the block has {} so far", distance, done);
    const size_t match = length(token & 15) + 4;
    if (match > to.size() - done) bad_data("the LZ4 block holds more than {} bytes", to.size());
    for (size_t k = 0; k < match; ++k, ++done) to[done] = to[done - distance];  // may overlap
  }
  if (done != to.size()) bad_data("the LZ4 block holds {} bytes, not {}", done, to.size());
}

}  // namespace penstock
