// SPDX-License-Identifier: Apache-2.0
// usage: run_saved_pipeline FILE.json [BATCHES]
// Runs a pipeline that Python saved, with no Python in the process, and prints a CRC-32 of each output of each batch.
#include <cstdio>
#include <cstdlib>

#include "penstock/penstock.hpp"

namespace {

uint32_t crc32(uint32_t crc, const void* data, size_t bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit) t[i] = (t[i] >> 1) ^ (t[i] & 1 ? 0xEDB88320u : 0);
    }
    return t;
  }();
  crc = ~crc;
  for (size_t i = 0; i < bytes; ++i) crc = (crc >> 8) ^ table[(crc ^ static_cast<const uint8_t*>(data)[i]) & 255];
  return ~crc;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FILE.json [BATCHES]\n", argv[0]);
    return 2;
  }
  try {
    penstock::Pipeline pipeline = penstock::Pipeline::load_file(argv[1]);
    const int64_t known = pipeline.batches_per_epoch();
    const int64_t count = argc > 2 ? std::atoll(argv[2]) : known > 0 ? known : 1;
    std::vector<penstock::Batch> outputs;
    for (int64_t i = 0; i < count && pipeline.next(outputs); ++i) {
      std::printf("batch %lld:", static_cast<long long>(i));
      for (const penstock::Batch& batch : outputs) {
        uint32_t crc = 0;
        for (int k = 0; k < batch.size(); ++k) crc = crc32(crc, batch[k].data, batch[k].bytes);
        std::printf(" %08x", crc);
      }
      std::printf("\n");
    }
  } catch (const penstock::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
