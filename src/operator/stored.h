// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "batch/batch.h"
#include "pixel/stored.h"

namespace penstock {

// Element `index` of a dense view.
inline void store_value(const View& out, int64_t index, double v) {
  dispatch_stored(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    out.as<T>()[index] = stored<T>(v);
  });
}

}  // namespace penstock
