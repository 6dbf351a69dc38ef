// SPDX-License-Identifier: Apache-2.0
#include "cpu/filter_rows.h"

#if defined(__x86_64__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 warns of its own AVX-512 header
#include <immintrin.h>
#endif

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

}  // namespace penstock
