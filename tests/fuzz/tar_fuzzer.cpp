// SPDX-License-Identifier: Apache-2.0
// A tar archive. Half of the inputs get right checksums in their headers; otherwise nothing after these would be read.
#include <cstdio>

#include "data/container_formats.h"
#include "data/tar.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::vector<uint8_t> file(data + 1, data + size);
  for (size_t at = 0; data[0] & 1 && at + 512 <= file.size(); at += 512) {
    unsigned sum = 8 * ' ';
    for (size_t i = 0; i < 512; ++i) sum += i >= 148 && i < 156 ? 0 : file[at + i];
    if (sum == 8 * ' ') continue;
    char text[9];
    std::snprintf(text, sizeof text, "%06o", sum);
    std::copy(text, text + 7, file.begin() + static_cast<long>(at) + 148);
  }
  fuzz::may_refuse([&] {
    const ContainerIndex index = fuzz::scanned(container_format("tar"), file.data(), file.size());
    for (const auto& name : index.names) sample_name(name);
  });
  return 0;
}
