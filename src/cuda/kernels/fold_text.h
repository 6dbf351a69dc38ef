// SPDX-License-Identifier: Apache-2.0
// The kernel that folds arguments on the GPU (cuda/stages/fold_arguments.h), for all operators of the registry.
#pragma once
#include <string>

#include "operator/bound_op.h"
#include "pixel/host_device.h"

namespace penstock {

PENSTOCK_TEXT(
    fold_rows_text, constexpr int kMostFolded = 5;  // per operator
    // The input of a thread; offsets are bytes from the beginning of the stage's table.
    struct FoldRow {
      int64_t op;  // fold_number
      int64_t values, coefs;
      struct {
        int64_t address, dtype;  // address 0: the number is among the values
      } arguments[kMostFolded];
    };
    // Before the rows; `table`: bytes back to the beginning of the stage's table.
    struct FoldHeader { int64_t rows, table; };);

constexpr const char* kFoldEntry = "fold";
constexpr int kFoldThreads = 64;

const std::string& fold_text();
// The operator's number in the text; -1: the text does not contain it.
int64_t fold_number(const OpInfo* info, Lane lane);

}  // namespace penstock
