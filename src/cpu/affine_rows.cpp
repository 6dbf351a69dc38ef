// SPDX-License-Identifier: Apache-2.0
#include "cpu/affine_rows.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "pixel/affine.h"

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // false alarms inside GCC 12's own AVX-512 header

namespace penstock {

// What the loops of all targets see of AffineRows.
struct AffineAccess {
  static const Conversions& convert(const AffineRows& r) { return r.convert_; }
  static const AffineMap& map(const AffineRows& r) { return r.map_; }
  static Lane lane(const AffineRows& r) { return r.lane_; }
  static bool in_integers(const AffineRows& r) { return r.in_integers_; }
  static float fill(const AffineRows& r, int c) {
    const auto& f = r.fill_;
    return f.size() > 1 ? (c < static_cast<int>(f.size()) ? f[c] : 0.0f) : f.empty() ? 0.0f : f[0];
  }
  using Fn = AffineRows::Fn;
};

namespace {
constexpr int kBlock = 256;  // outputs at a time: what a block needs stays in the first cache
}

namespace affine_scalar {
#define PENSTOCK_WIDTH 0
#include "cpu/affine_rows.inc.h"
}  // namespace affine_scalar
#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi2")
namespace affine_avx2 {
#undef PENSTOCK_WIDTH
#define PENSTOCK_WIDTH 8
#include "cpu/affine_rows.inc.h"
}  // namespace affine_avx2
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi2,prefer-vector-width=512")
namespace affine_avx512 {
#undef PENSTOCK_WIDTH
#define PENSTOCK_WIDTH 16
#include "cpu/affine_rows.inc.h"
}  // namespace affine_avx512
#pragma GCC pop_options
#else
namespace affine_avx2 = affine_scalar;
namespace affine_avx512 = affine_scalar;
#endif

AffineRows::AffineRows(Target target, const AffineMap& map, std::span<const float> fill, Lane lane, bool to_bytes)
    : convert_(conversions(target)),
      map_(map),
      fill_(fill),
      lane_(lane),
      in_integers_(to_bytes && map.dims == 2 && map.kind == FilterKind::linear) {
  fn_ = target == Target::avx512 ? &affine_avx512::row : target == Target::avx2 ? &affine_avx2::row
                                                                                  : &affine_scalar::row;
}

void AffineRows::row(const AffineSource& s, int64_t x, int64_t y, int64_t z, int64_t n, void* const* planes) const {
  fn_(*this, s, x, y, z, n, planes);
}

}  // namespace penstock
