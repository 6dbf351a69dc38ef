// SPDX-License-Identifier: Apache-2.0
// Operators whose output may use the memory of their first input, if nothing else needs that input: assignments to a
// part. Input and output then have the same address, and the operators do not touch what they do not change.
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
