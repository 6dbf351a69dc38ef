// SPDX-License-Identifier: Apache-2.0
// A block of LZ4 after two bytes that say how much it should contain.
#include <cstring>

#include "fuzz_containers.h"
#include "numerics/lz4.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t bytes = data[0] | data[1] << 8;
  // Memory of the exact size, so that an access outside is detected.
  std::vector<uint8_t> block(data + 2, data + size), first(bytes), second(bytes, 255);
  fuzz::may_refuse([&] {
    decode_lz4(block, first);
    decode_lz4(block, second);
    if (bytes > 0 && std::memcmp(first.data(), second.data(), bytes) != 0) std::abort();  // each byte was written
  });
  return 0;
}
