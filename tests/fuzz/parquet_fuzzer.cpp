// SPDX-License-Identifier: Apache-2.0
// Pages of a column of Parquet: each value that is found must lie inside the bytes.
#include <cstring>

#include "data/parquet_pages.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  // Few rows, and whether pages have levels; then the pages.
  const int64_t rows = data[0] % 64, bytes = static_cast<int64_t>(size) - 1;
  const bool levels = data[0] & 128;
  const fuzz::MemoryFile file(data + 1, size - 1);
  fuzz::may_refuse([&] {
    std::vector<ContainerIndex> records(1);
    records[0].add(0, bytes);
    const Container files("parquet", {file.path()}, std::move(records));
    const ParquetColumn column = parquet_column(files, {0, 0, 0, bytes, levels}, rows);
    const auto& views = column.node.buffers[1];
    for (int64_t row = 0; row < rows; ++row) {
      int32_t view[4];
      std::memcpy(view, views.data + row * int64_t{sizeof view}, sizeof view);
      if (view[0] < 0 || (view[0] > 12 && (view[3] < 0 || int64_t{view[3]} + view[0] > bytes))) std::abort();
    }
  });
  return 0;
}
