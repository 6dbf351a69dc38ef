// SPDX-License-Identifier: Apache-2.0
#include "operator/convert_dense.h"

#include "base/target.h"
#include "pixel/stored.h"

namespace penstock {
namespace {

using ConvertRow = void (*)(const void* from, void* to, int64_t n);

#define PENSTOCK_LOOPS dense
#define PENSTOCK_LOOPS_TEXT "operator/convert_dense.inc.h"
#include "base/foreach_target.h"

ConvertRow row_for(Target t, DType from, DType to) { return PENSTOCK_FOR_TARGET(t, dense, row_of(from, to)); }

}  // namespace

bool convert_dense(const View& from, const View& to) {
  const ConvertRow row = row_for(best_target(), from.dtype, to.dtype);
  if (!row || !from.dense() || !to.dense()) return false;
  row(from.data, to.data, from.volume());
  return true;
}

}  // namespace penstock
