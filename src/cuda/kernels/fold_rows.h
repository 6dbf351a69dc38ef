// SPDX-License-Identifier: Apache-2.0
// The table of the kernel that folds arguments on the GPU (cuda/stages/fold_arguments.h), for host and device.
#pragma once
#include "pixel/prelude.h"

namespace penstock {

constexpr int kMostFolded = 5;  // per operator
// The input of a thread; offsets are bytes from the beginning of the stage's table.
struct FoldRow {
  int64_t op;  // fold_number
  int64_t values, coefs;
  struct {
    int64_t address, dtype;  // address 0: the number is among the values
  } arguments[kMostFolded];
};
// Before the rows; `table`: bytes back to the beginning of the stage's table.
struct FoldHeader {
  int64_t rows, table;
};
static_assert(sizeof(FoldRow) == (3 + 2 * kMostFolded) * 8 && sizeof(FoldHeader) == 16);

}  // namespace penstock
