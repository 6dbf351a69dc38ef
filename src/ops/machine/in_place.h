// SPDX-License-Identifier: Apache-2.0
// Operators whose output may take the memory of their first input, where nobody else wants that one: assignments to a
// part. They then find both at one address, and leave alone what they do not change.
#pragma once
#include <string>

#include "batch/batch.h"

namespace penstock {

bool works_in_place(const std::string& op);

struct WorksInPlace {
  explicit WorksInPlace(const char* op);
};

inline bool at_one_place(const View& in, const View& out) { return in.data == out.data; }

}  // namespace penstock
