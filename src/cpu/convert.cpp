// SPDX-License-Identifier: Apache-2.0
#include "cpu/convert.h"

#include "base/intrinsics.h"
#include "pixel/byte_table.h"
#include "pixel/convert.h"

namespace penstock {

#define PENSTOCK_LOOPS convert
#define PENSTOCK_LOOPS_TEXT "cpu/convert.inc.h"
#include "base/foreach_target.h"

const Conversions& conversions(Target t) {
  const Conversions* plain = t == Target::scalar ? nullptr : &conversions(Target::scalar);
  return PENSTOCK_FOR_TARGET(t, convert, table(plain));
}

}  // namespace penstock
