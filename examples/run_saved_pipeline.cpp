// SPDX-License-Identifier: Apache-2.0
// usage: run_saved_pipeline FILE.json [BATCHES]
// Runs a pipeline that Python saved, with no Python in the process, and prints a CRC-32 of each output of each batch.
#include <cstdio>
#include <cstdlib>

#include "crc32.h"
#include "penstock/penstock.hpp"

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
