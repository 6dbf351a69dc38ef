// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/entropy_loop.h"

#include <cstring>

namespace penstock::jpeg {

// In vector registers the loop of two streams is 25 % slower. BMI2 shifts by any register and keeps the flags; nothing
// else in newer processors helps here.
#define PENSTOCK_LOOPS entropy
#define PENSTOCK_LOOPS_OF_INTEGERS
#define PENSTOCK_LOOPS_TEXT "codecs/jpeg/entropy_loop.inc.h"
#include "base/foreach_target.h"

const EntropyLoops& entropy_loops(Target target) { return PENSTOCK_FOR_TARGET(target, entropy, kLoops); }

}  // namespace penstock::jpeg
