// SPDX-License-Identifier: Apache-2.0
// An nvJPEG2000 that is made up: it keeps to the order of calls that the real one asks for, and decodes on the CPU.
#pragma once
#include <string>

#include "cuda/decode/nvjpeg2000_library.h"

namespace penstock {

// "decodes", "inverts" the pixels, or "fails" on every file.
const nvjpeg2000::Library& nvjpeg2000_stand_in(const std::string& how);

// Since the process began.
struct StandInCounts {
  int alive = 0;    // handles, states, parsed files and parameters
  int decoded = 0;  // images
  int wrong = 0;    // calls out of order
};
StandInCounts& stand_in_counts();
void count_in_stand_in(int StandInCounts::* which, int by = 1);

}  // namespace penstock
