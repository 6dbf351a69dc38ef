// SPDX-License-Identifier: Apache-2.0
// An LMDB database.
#include "data/lmdb.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::may_refuse([&] { fuzz::scanned(lmdb_format(true), data, size); });
  return 0;
}
