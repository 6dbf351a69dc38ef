// SPDX-License-Identifier: Apache-2.0
#include "numerics/lz4.h"

#include "base/error.h"

namespace penstock {

void refuse_lz4(const Lz4Damage& damage) {
  switch (damage.what) {
    case 1: bad_data("the LZ4 block ends within a sequence");
    case 2: bad_data("the LZ4 block ends within literals");
    case 3: bad_data("the LZ4 block holds more than {} bytes", damage.numbers[0]);
    case 4:
      bad_data("an LZ4 match starts {} bytes back, but the block has {} so far", damage.numbers[0], damage.numbers[1]);
    default: bad_data("the LZ4 block holds {} bytes, not {}", damage.numbers[0], damage.numbers[1]);
  }
}

void decode_lz4(std::span<const uint8_t> block, std::span<uint8_t> to) {
  const Lz4Damage damage = decode_lz4_block(block.data(), static_cast<int64_t>(block.size()), to.data(),
                                            static_cast<int64_t>(to.size()), OneThread{});
  if (damage.what) refuse_lz4(damage);
}

}  // namespace penstock
