// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/entropy_loop.h"

#include <cstring>

namespace penstock::jpeg {

// Without vector registers the compiler cannot spill into them, which GCC 12 does where it tunes for some processors:
// the loop of two streams is 25 % slower then.
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("general-regs-only")
#endif
namespace entropy_scalar {
#include "codecs/jpeg/entropy_loop.inc.h"
}  // namespace entropy_scalar
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#if defined(__x86_64__)
// BMI2 shifts by any register and keeps the flags; there is nothing else to win from a newer processor here.
#pragma GCC push_options
#if !defined(__clang__)
#pragma GCC target("bmi,bmi2,general-regs-only")
#endif
namespace entropy_bmi2 {
#include "codecs/jpeg/entropy_loop.inc.h"
}  // namespace entropy_bmi2
#pragma GCC pop_options
#else
namespace entropy_bmi2 = entropy_scalar;
#endif

const EntropyLoops& entropy_loops(Target target) {
  static const EntropyLoops scalar{entropy_scalar::run_one, entropy_scalar::run_two};
  static const EntropyLoops bmi2{entropy_bmi2::run_one, entropy_bmi2::run_two};
  return target == Target::scalar ? scalar : bmi2;
}

}  // namespace penstock::jpeg
