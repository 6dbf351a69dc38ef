// SPDX-License-Identifier: Apache-2.0
// A RecordIO file: its index and every record of it; also as one record alone.
#include "data/container_formats.h"
#include "data/recordio.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ImageRecord out;
  const std::vector<uint8_t> exact(data, data + size);
  fuzz::may_refuse([&] { read_image_record(exact, out); });
  fuzz::may_refuse([&] {
    const ContainerIndex index = fuzz::scanned(container_format("recordio"), data, size);
    for (int64_t i = 0; i < index.size(); ++i) {
      const auto record = fuzz::record_of(index, i, data);
      fuzz::may_refuse([&] { read_image_record(record, out); });
    }
  });
  return 0;
}
