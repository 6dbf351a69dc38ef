// SPDX-License-Identifier: Apache-2.0
// A TFRecord file: its index and every record of it; also as one record alone, whatever its checksums.
#include "data/container_formats.h"
#include "data/tfrecord.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::may_refuse([&] { tfrecord_payload({data, size}, false); });
  fuzz::may_refuse([&] {
    const ContainerIndex index = fuzz::scanned(container_format("tfrecord"), data, size);
    for (int64_t i = 0; i < index.size(); ++i)
      fuzz::may_refuse([&] { tfrecord_payload(fuzz::record_of(index, i, data), true); });
  });
  return 0;
}
