// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/kernels.h"

#include <algorithm>
#include <cstring>

#include "base/intrinsics.h"
#include "codecs/jpeg/transform.h"

namespace penstock::jpeg {

#define PENSTOCK_LOOPS kernels
#define PENSTOCK_LOOPS_TEXT "codecs/jpeg/kernels.inc.h"
#include "base/foreach_target.h"

const Kernels& kernels(Target t) { return PENSTOCK_FOR_TARGET(t, kernels, kKernels); }

}  // namespace penstock::jpeg
