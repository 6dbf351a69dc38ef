// SPDX-License-Identifier: Apache-2.0
#include "codecs/audio/flac_loops.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/intrinsics.h"

namespace penstock {

namespace {

// Takes a code that the window may not hold completely.
bool take_long_code(FlacBits& bits, int k, uint32_t* to) {
  const uint64_t zeros = bits.take_zeros();
  *to = static_cast<uint32_t>(zeros << k | bits.take(k));
  return zeros >> (32 - k) == 0;
}

// A vector load of samples that were just written stalls (store forwarding); scalar loads do not.
#define PENSTOCK_LOOPS flac
#define PENSTOCK_LOOPS_OF_INTEGERS
#define PENSTOCK_LOOPS_TEXT "codecs/audio/flac_loops.inc.h"
#include "base/foreach_target.h"
#define PENSTOCK_LOOPS flac_lanes
#define PENSTOCK_LOOPS_UP_TO_AVX2
#define PENSTOCK_LOOPS_TEXT "codecs/audio/flac_lanes.inc.h"
#include "base/foreach_target.h"

}  // namespace

const FlacLoops& flac_loops(Target target) { return PENSTOCK_FOR_TARGET(target, flac_lanes, kLoops); }

}  // namespace penstock
