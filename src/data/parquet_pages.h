// SPDX-License-Identifier: Apache-2.0
// Columns of Parquet files whose values lie in the file as they are: byte arrays in pages that are neither compressed
// nor encoded. Only the places of the values are found; who needs a value reads it from the file into its own memory.
#pragma once
#include <memory>

#include "data/arrow_table.h"

namespace penstock {

// A column of one row group. Its footer says that no value is absent.
struct ParquetChunk {
  int column = 0;  // among those of the table
  int file = 0;
  int64_t offset = 0, bytes = 0;  // of its pages
  bool levels = false;            // each page begins with levels, because values may be absent
};

struct ParquetColumn {
  ArrowNode node;  // its values are views, which `owner` keeps
  std::shared_ptr<void> owner;
};

// Finds the values, which must be `rows`. Error (data) with the path if the pages are damaged, or are of another kind.
ParquetColumn parquet_column(const Container& files, const ParquetChunk& chunk, int64_t rows);

}  // namespace penstock
