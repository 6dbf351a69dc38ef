// SPDX-License-Identifier: Apache-2.0
#include "cpu/filter_rows.h"

#if defined(__x86_64__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 warns of its own AVX-512 header
#include <immintrin.h>
#endif

#include <algorithm>

#include "pixel/math.h"

namespace penstock {

namespace rows_scalar {
#define PENSTOCK_VECTORS 0
#include "cpu/filter_rows.inc.h"
}  // namespace rows_scalar
#if defined(__x86_64__)
#undef PENSTOCK_VECTORS
#define PENSTOCK_VECTORS 1
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi2")
namespace rows_avx2 {
#include "cpu/filter_rows.inc.h"
}
#pragma GCC pop_options
#undef PENSTOCK_VECTORS
#define PENSTOCK_VECTORS 2
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi2,prefer-vector-width=512")
namespace rows_avx512 {
#include "cpu/filter_rows.inc.h"
}
#pragma GCC pop_options
#else
namespace rows_avx2 = rows_scalar;
namespace rows_avx512 = rows_scalar;
#endif

const FilterRows& filter_rows(Target t) {
  return t == Target::avx512 ? rows_avx512::kRows : t == Target::avx2 ? rows_avx2::kRows : rows_scalar::kRows;
}

void plan_row(const int32_t* base, int64_t count, int step, const float* weight, int taps, int lanes, RowPlan& plan) {
  plan.lanes = lanes;
  plan.parts = 0;
  if (lanes == 0 || count == 0) return;
  const int64_t groups = (count + lanes - 1) / lanes, padded = groups * lanes;
  auto at = [&](int64_t o) { return base[std::min(o, count - 1)]; };
  // The fewest parts whose outputs all lie in two registers.
  for (int parts : {1, 2, 4}) {
    const int64_t n = lanes / parts;
    plan.base.resize(groups * parts);
    bool fits = true, held = parts == 1;
    for (int64_t p = 0; p < groups * parts && fits; ++p) {
      int32_t low = at(p * n), high = low;
      for (int64_t o = p * n + 1; o < (p + 1) * n; ++o) low = std::min(low, at(o)), high = std::max(high, at(o));
      plan.base[p] = low;
      fits = high - low < 2 * lanes;
      held &= high - low + taps - 1 < 2 * lanes;
    }
    if (!fits) continue;
    plan.parts = parts;
    plan.held = held;
    if (held && step < 0)
      for (int32_t& b : plan.base) b -= taps - 1;
    plan.index.resize(padded);
    for (int64_t o = 0; o < padded; ++o) plan.index[o] = at(o) - plan.base[o / n];
    plan.weight.resize(padded * taps);
    for (int64_t o = 0; o < padded; ++o)
      for (int k = 0; k < taps; ++k)
        plan.weight[(o / lanes * taps + k) * lanes + o % lanes] = weight[std::min(o, count - 1) * taps + k];
    return;
  }
}

}  // namespace penstock
