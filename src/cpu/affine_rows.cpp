// SPDX-License-Identifier: Apache-2.0
#include "cpu/affine_rows.h"

#include <algorithm>
#include <cstring>

#include "base/intrinsics.h"
#include "pixel/affine.h"

namespace penstock {

// The part of AffineRows that the loops of all targets read.
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
constexpr int kBlock = 256;  // outputs at a time: the data of a block stays in the first-level cache
}

#define PENSTOCK_LOOPS affine
#define PENSTOCK_LOOPS_TEXT "cpu/affine_rows.inc.h"
#include "base/foreach_target.h"

AffineRows::AffineRows(Target target, const AffineMap& map, std::span<const float> fill, Lane lane, bool to_bytes)
    : convert_(conversions(target)),
      map_(map),
      fill_(fill),
      lane_(lane),
      in_integers_(to_bytes && map.dims == 2 && map.kind == FilterKind::linear) {
  fn_ = PENSTOCK_FOR_TARGET(target, &affine, row);
}

void AffineRows::row(const AffineSource& s, AffineOutputs outputs, int64_t y, int64_t z, int64_t n,
                     void* const* planes) const {
  fn_(*this, s, outputs, y, z, n, planes);
}

}  // namespace penstock
