// SPDX-License-Identifier: Apache-2.0
// What operators did to the samples of a batch, for people: the arguments that differ between samples, and branches.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace penstock {

struct LoggedNumbers {
  std::string argument;
  DType dtype = DType::none;
  bool list = false;
  std::vector<double> values;  // empty: on a GPU, or too many
};

struct LoggedStep {
  int node = 0;
  int sample = 0;               // SampleOrigin::number
  uint64_t child = 0;           // SampleOrigin::child
  std::vector<uint64_t> trips;  // of the loops around it, the outermost first
  std::vector<LoggedNumbers> numbers;
};
using StepLog = std::vector<LoggedStep>;

}  // namespace penstock
