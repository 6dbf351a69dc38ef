// SPDX-License-Identifier: Apache-2.0
#include "cpu/affine_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/intrinsics.h"
#include "operator/rows_ahead.h"
#include "pixel/affine.h"
#include "pixel/convert.h"

namespace penstock {

// The part of AffineRows that the loops of all targets read.
struct AffineAccess {
  static const Conversions& convert(const AffineRows& r) { return r.convert_; }
  static const AffineMap& map(const AffineRows& r) { return r.map_; }
  static Lane lane(const AffineRows& r) { return r.lane_; }
  static bool in_integers(const AffineRows& r) { return r.in_integers_; }
  static bool covers(const AffineRows& r) { return r.covers_; }
  static bool fills(const AffineRows& r) { return r.map_.border_fill && !r.covers_; }  // taps that are outside
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
      in_integers_(to_bytes && map.dims == 2 && map.kind == FilterKind::linear),
      covers_(map.border_fill && map.kind == FilterKind::linear && !in_integers_ &&
              (lane == Lane::f32 || lane == Lane::f64) &&
              std::any_of(fill.begin(), fill.end(), [](float v) { return !std::isfinite(v); })) {
  fn_ = PENSTOCK_FOR_TARGET(target, &affine, row);
  target_ = target;
}

void AffineRows::row(const AffineSource& s, AffineOutputs outputs, int64_t y, int64_t z, int64_t n,
                     void* const* planes) const {
  fn_(*this, s, outputs, y, z, n, planes);
}

bool AffineRows::copies(const AffineSource& s) const {
  if (target_ == Target::avx512) return false;  // whose gathers, and stores past the caches, are faster
  if (map_.kind != FilterKind::nearest || map_.dims != 2 || lane_ != Lane::f32) return false;
  if (s.channels > 1 && s.stride_c != 1) return false;
  return s.dtype == DType::float32 || ((is_integer(s.dtype) || s.dtype == DType::bool_) && size_of(s.dtype) <= 2);
}
std::vector<char> AffineRows::fill_pixel(const AffineSource& s) const {
  if (!map_.border_fill) return {};
  std::vector<char> pixel(static_cast<size_t>(s.channels) * size_of(s.dtype));
  dispatch_stored(s.dtype, [&]<class T>(TypeTag<T>) {
    for (int c = 0; c < s.channels; ++c) {
      const T v = from_lane<float, T>(AffineAccess::fill(*this, c));
      std::memcpy(pixel.data() + static_cast<size_t>(c) * sizeof(T), &v, sizeof(T));
    }
  });
  return pixel;
}
void AffineRows::copied_row(const AffineSource& s, AffineOutputs outputs, int64_t y, int64_t n,
                            const std::vector<char>& fill, void* out) const {
  const char* pixel = fill.empty() ? nullptr : fill.data();
  PENSTOCK_FOR_TARGET(target_, affine, copied_row(*this, s, outputs, y, n, pixel, static_cast<char*>(out)));
}

}  // namespace penstock
