// SPDX-License-Identifier: Apache-2.0
#include "cpu/whole_means.h"

#include <algorithm>

#include "base/intrinsics.h"
#include "pixel/math.h"

namespace penstock {

#define PENSTOCK_LOOPS whole_means
#define PENSTOCK_LOOPS_TEXT "cpu/whole_means.inc.h"
#define PENSTOCK_LOOPS_UP_TO_AVX2
#include "base/foreach_target.h"

const WholeMeans& whole_means(Target t) { return PENSTOCK_FOR_TARGET(t, whole_means, kMeans); }

}  // namespace penstock
