// SPDX-License-Identifier: Apache-2.0
// Some rows of an Arrow table, in an order of their own: what a selection of a data set is.
#pragma once
#include "data/arrow_table.h"

namespace penstock {

// Error (argument) if a number is not one of a row.
std::shared_ptr<const ArrowTable> arrow_rows(std::shared_ptr<const ArrowTable> table, std::vector<int64_t> rows);

}  // namespace penstock
