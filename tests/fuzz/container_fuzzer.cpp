// SPDX-License-Identifier: Apache-2.0
// A file as each container format that registered itself (data/container_formats.h): its index, whose records must all
// lie inside the file.
#include "data/container_formats.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<ContainerFormat> formats = container_formats();
  for (const ContainerFormat& format : formats) fuzz::may_refuse([&] { fuzz::scanned(format, data, size); });
  return 0;
}
