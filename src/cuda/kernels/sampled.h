// SPDX-License-Identifier: Apache-2.0
// Any dimensions that have taps or an affine map: a thread takes one position with all its planes. Images have
// faster kernels of their own.
#pragma once
#include "cuda/kernels/affine_cover.h"
#include "cuda/kernels/positions.h"
#include "pixel/affine.h"

namespace penstock {

// The taps of a stage's filtered dimensions, which are counted from the innermost: StageRow::axis.
template <class Stage> struct StageTaps {
  typedef typename Stage::Index Index;
  typedef typename Stage::template In<0> In;
  typedef typename Stage::SourceNumber Number;
  static constexpr int kAxes = Stage::kRow.axes, kDims = Stage::kRow.dims;
  PENSTOCK_HD static constexpr bool reads(int d) { return Stage::kFiltered >> d & 1; }
  PENSTOCK_HD static constexpr int dim_of(int axis) {
    for (int d = kDims - 1; d >= 0; --d)
      if (reads(d) && axis-- == 0) return d;
    return 0;
  }

  struct Axis {
    int taps;
    TapRange range{};  // of one output
    const int32_t* first;
    const float *weight, *own = nullptr;
    Index step;
  };
  Axis axis[kAxes];
  bool indexed;

  PENSTOCK_HD inline StageTaps(const StageBlock<Stage>& b, const StageLoops<Stage>& loops) {
    PENSTOCK_UNROLL
    for (int k = 0; k < kAxes; ++k) {
      const TapsRow& row = b.row.axis(k);
      axis[k].taps = static_cast<int>(row.taps);
      axis[k].first = reinterpret_cast<const int32_t*>(b.table + row.first);
      axis[k].weight = reinterpret_cast<const float*>(b.table + row.weight);
      axis[k].step = static_cast<Index>(row.step) * loops.in[0][dim_of(k)];
    }
    indexed = b.row.indexed() != 0;
  }

  // The first sample of this position, in the elements of a plane; sets its taps.
  PENSTOCK_HD inline Index corner(const Index (&x)[kDims], const StageLoops<Stage>& loops) {
    Index at = 0;
    PENSTOCK_UNROLL
    for (int k = 0; k < kAxes; ++k) {
      Axis& a = axis[k];
      const Index t = x[dim_of(k)] - loops.lo[dim_of(k)];
      at += static_cast<Index>(a.first[t]) * a.step;
      a.own = a.weight + t * a.taps, a.range = {0, a.taps};
      if (dim_of(k) == Stage::kVertical && !indexed) a.range = weighted_taps(a.own, 1, a.taps);
    }
    return at;
  }
  // The sum over taps: the innermost dimension last, as on the CPU.
  template <int k = 0> PENSTOCK_HD inline float sum(const SourceOf<Stage>& in) const {
    if constexpr (k == kAxes) {
      return to_lane<In, float>(*in);
    } else {
      const Axis& a = axis[k];
      float total = 0;
      for (int t = a.range.from; t < a.range.to; ++t) {
        const float part = sum<k + 1>(in + t * a.step);
        total = t == a.range.from ? a.own[t] * part : fma(a.own[t], part, total);
      }
      return total;
    }
  }
  template <class Offset>
  PENSTOCK_HD inline void read(const SourceOf<Stage>& in, const Index (&x)[kDims], const StageLoops<Stage>& loops,
                               const Offset& plane, Number (&source)[Stage::kPlanes]) {
    const auto at = in + corner(x, loops);
    for (int p = 0; p < Stage::kPlanes; ++p)
      source[p] = indexed ? to_lane<In, Number>(at[plane(p)]) : change_lane<float, Number>(sum(at + plane(p)));
  }
};

// The affine map of a stage, of two dimensions or three.
template <class Stage> struct StageWarp {
  typedef typename Stage::Index Index;
  typedef typename Stage::template In<0> In;
  typedef typename Stage::SourceNumber Number;
  static constexpr int kWarped = Stage::kWarpZ >= 0 ? 3 : 2, kDims = Stage::kRow.dims;
  PENSTOCK_HD static constexpr bool reads(int d) {
    return d == Stage::kWarpX || d == Stage::kWarpY || d == Stage::kWarpZ;
  }

  const double* m;
  const int64_t* extent;
  int64_t stride[3];
  float outside;
  bool nearest, border_fill;

  PENSTOCK_HD inline StageWarp(const StageBlock<Stage>& b, const StageLoops<Stage>& loops)
      : m(b.row.warp().m),
        extent(b.row.warp().source.extent),
        stride{loops.in[0][Stage::kWarpX], loops.in[0][Stage::kWarpY],
               kWarped == 3 ? loops.in[0][kWarped == 3 ? Stage::kWarpZ : 0] : 0},
        outside(*reinterpret_cast<const float*>(b.table + b.row.warp().source.fill)),
        nearest(b.row.warp().source.nearest != 0),
        border_fill(b.row.warp().source.border_fill != 0) {}

  template <class V, class Load> PENSTOCK_HD inline AffineChannel<kWarped, V, Load> channel(const Load& load) const {
    return {extent, stride, border_fill, fill_in_lane<V>(outside), load};
  }
  template <class Offset>
  PENSTOCK_HD inline void read(const SourceOf<Stage>& in, const Index (&x)[kDims], const StageLoops<Stage>&,
                               const Offset& plane, Number (&source)[Stage::kPlanes]) const {
    // Integers of more than 24 bits are blended in float64.
    typedef typename Nth<std::is_floating_point_v<Number> ? 0 : 1, Number, double>::type Blend;
    const auto point = affine_point<kWarped>(m, x[Stage::kWarpX], x[Stage::kWarpY],
                                             kWarped == 3 ? x[kWarped == 3 ? Stage::kWarpZ : 0] : 0, nearest);
    for (int p = 0; p < Stage::kPlanes; ++p) {
      const auto own = in + plane(p);
      if (nearest) {
        source[p] = channel<Number>([own](int64_t at) { return to_lane<In, Number>(own[at]); }).tap(point, 0);
        continue;
      }
      const auto blended = channel<Blend>([own](int64_t at) { return to_lane<In, Blend>(own[at]); });
      if constexpr (Stage::kSourceStaysBytes && kWarped == 2) source[p] = blended.linear_bytes(point);
      else source[p] = change_lane<Blend, Number>(covered_linear(blended, point));
    }
  }
};

template <class Stage, class Source> __device__ inline void sampled(const char* table) {
  using Index = typename Stage::Index;
  using Out = typename Stage::Out;
  constexpr int kDims = Stage::kRow.dims, kInputs = Stage::kRow.inputs, made = Stage::kOutPlanes;
  constexpr bool kFills = Stage::kRow.fills;
  const StageBlock<Stage> b(table);
  const typename Stage::Coefs coefs(b.coefs + b.row.head().coefs);
  const StageLoops<Stage> loops(b.row);
  Source from(b, loops);
  const StageStore<Stage> store(b, kDims - 1);
  const int32_t* pick = nullptr;
  if constexpr (Stage::kRow.picks_planes) pick = reinterpret_cast<const int32_t*>(b.table + b.row.plane_pick());
  const auto plane_of = [&](int k, int p) -> Index {
    if constexpr (Stage::kRow.picks_planes)
      if (k == 0) return static_cast<Index>(pick[p]) * loops.plane_in[0];
    return p * loops.plane_in[k];
  };
  for (Index i = b.begin + static_cast<Index>(threadIdx.x); i < b.end; i += static_cast<Index>(blockDim.x)) {
    Index x[kDims], rest = i;
    PENSTOCK_UNROLL
    for (int d = kDims - 1; d > 0; --d) x[d] = rest % loops.extent[d], rest /= loops.extent[d];
    x[0] = rest;
    Out* to = b.out + loops.offset(x, loops.out);
    if constexpr (kFills) {
      bool inside = true;
      PENSTOCK_UNROLL
      for (int d = 0; d < kDims; ++d) inside = inside && x[d] >= loops.lo[d] && x[d] < loops.hi[d];
      if (!inside) {
        store.fill_at(to);
        continue;
      }
    }
    Index at[kInputs];
    PENSTOCK_UNROLL
    for (int k = 0; k < kInputs; ++k) {
      at[k] = 0;
      PENSTOCK_UNROLL
      for (int d = 0; d < kDims; ++d)
        if (k > 0 || !Source::reads(d)) at[k] += x[d] * loops.in[k][d];
    }
    typename Stage::SourceNumber source[Stage::kPlanes];
    from.read(b.in.own + at[0], x, loops, [&](int p) { return plane_of(0, p); }, source);
    typename Stage::Number numbers[made];
    Stage::apply(
        coefs, [&](auto k, int p) { return value_of<k.value>(b.in)[at[k.value] + plane_of(k.value, p)]; }, source,
        numbers, b.fault, true);
    store.position(to, [&](int p) { return element_of<typename Stage::Number, Out>(numbers[p]); });
  }
}

}  // namespace penstock
