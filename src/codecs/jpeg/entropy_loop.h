// SPDX-License-Identifier: Apache-2.0
// The inner loop of entropy decoding, per instruction set.
#pragma once
#include "base/target.h"
#include "codecs/jpeg/entropy_stream.h"

namespace penstock::jpeg {

struct EntropyLoops {
  void (*run_one)(EntropyStream& stream);                        // to its end
  void (*run_two)(EntropyStream& first, EntropyStream& second);  // both to their ends, in turn
};
const EntropyLoops& entropy_loops(Target target);

}  // namespace penstock::jpeg
