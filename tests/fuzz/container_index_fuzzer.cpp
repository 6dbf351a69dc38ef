// SPDX-License-Identifier: Apache-2.0
// Index files: those we keep, with their checksum put right, and the texts of tfrecord2idx, rec2idx and wds2idx.
#include <cstring>

#include "base/checksum.h"
#include "data/container_formats.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> kept(data, data + size);
  if (size >= 4) {
    const uint32_t sum = crc32c({kept.data(), size - 4});
    std::memcpy(kept.data() + size - 4, &sum, 4);
  }
  FileStamp stamp;
  if (size >= 40) std::memcpy(&stamp.bytes, data + 24, 8), std::memcpy(&stamp.modified_ns, data + 32, 8);
  if (const auto index = index_from_bytes(kept, "tfrecord", stamp))
    if (first_outside(*index, stamp.bytes) >= 0 || index_bytes("tfrecord", stamp, *index).size() > size + 8)
      std::abort();
  const std::string text(data, data + size);
  for (const auto& format : {container_format("tfrecord"), container_format("recordio"), container_format("tar")})
    fuzz::may_refuse([&] { first_outside(format.parse_index(text, "index", 1000), 1000); });
  return 0;
}
