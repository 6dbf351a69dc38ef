// SPDX-License-Identifier: Apache-2.0
// Groups of neighboring positions, in kernels that make the source's values themselves: from taps or an affine map.
#pragma once
#include "cuda/kernels/stage_block.h"

namespace penstock {

struct ToHalves {
  template <int q, int p> PENSTOCK_HD void operator()(const float (&from)[q][p], Half (&to)[q][p]) const {
    to_halves(from, to);
  }
};

// The results of q positions as elements. apply(j, made) makes the numbers of position j. `halves` converts a group of
// float32 numbers, all at once.
template <class Stage, int q, class Apply, class Halves = ToHalves>
__device__ inline void group_results(const Apply& apply, typename Stage::Out (&y)[q][Stage::kOutPlanes],
                                     const Halves& halves = {}) {
  using Out = typename Stage::Out;
  using Number = typename Stage::Number;
  constexpr int n = Stage::kOutPlanes;
  constexpr bool kHalves = std::is_same_v<Out, Half> && std::is_same_v<Number, float>;
  Number numbers[kHalves ? q : 1][n];
  PENSTOCK_UNROLL
  for (int j = 0; j < q; ++j) {
    Number made[n];
    apply(j, made);
    for (int p = 0; p < n; ++p) {
      if constexpr (kHalves) numbers[j][p] = made[p];
      else if constexpr (Stage::kResultWithin) y[j][p] = element_within<uint8_t>(made[p]);
      else y[j][p] = element_of<Number, Out>(made[p]);
    }
  }
  if constexpr (kHalves) halves(numbers, y);
}
// The same of a stage whose only input is the source. make(j, source) sets its value of position j in all planes;
// wanted(j): it is computed for the output, and may be refused.
template <class Stage, int q, class Make, class Wanted, class Halves = ToHalves>
__device__ inline void sampled_results(const typename Stage::Coefs& coefs, int32_t* fault, const Make& make,
                                       const Wanted& wanted, typename Stage::Out (&y)[q][Stage::kOutPlanes],
                                       const Halves& halves = {}) {
  const auto apply = [&](int j, typename Stage::Number(&made)[Stage::kOutPlanes]) {
    typename Stage::SourceNumber source[Stage::kPlanes];
    make(j, source);
    Stage::apply(coefs, [](auto, int) { return 0; }, source, made, fault, !Stage::kRow.faults || wanted(j));
  };
  group_results<Stage, q>(apply, y, halves);
}

// Where a row's outputs go.
template <class Stage> struct StageStore {
  typedef typename Stage::Index Index;
  typedef typename Stage::Out Out;
  static constexpr int kMade = Stage::kOutPlanes;
  static constexpr bool kFills = Stage::kRow.fills, kPlaneDim = Stage::kRow.has_plane;

  Index x;                                    // the stride of neighbors
  Index plane = 0, planes = 1, plane_lo = 0;  // stride; planes of the output, the first that is not fill
  const Out* fill = nullptr;
  bool planar, interleaved, all_planes = true;

  PENSTOCK_HD inline StageStore(const StageBlock<Stage>& b, int dim)
      : x(static_cast<Index>(b.row.dim(dim).out_stride)) {
    if constexpr (kPlaneDim) {
      const LoopRow& row = b.row.plane();
      plane = static_cast<Index>(row.out_stride), planes = static_cast<Index>(row.extent);
      plane_lo = static_cast<Index>(row.lo);
    }
    if constexpr (kFills) {
      fill = reinterpret_cast<const Out*>(b.table + b.row.fill());
      if constexpr (kPlaneDim) all_planes = plane_lo == 0 && planes == kMade;
    }
    planar = x == 1, interleaved = x == kMade && (kMade == 1 || plane == 1);
  }
  PENSTOCK_HD inline void fill_at(Out* to) const {
    PENSTOCK_ROLLED
    for (Index p = 0; p < planes; ++p) to[p * plane] = fill[p];
  }
  // One position that is not fill; y(p) is its element in plane p.
  template <class Plane> PENSTOCK_HD inline void position(Out* to, const Plane& y) const {
    for (int p = 0; p < kMade; ++p) to[(plane_lo + p) * plane] = y(p);
    if constexpr (kFills && kPlaneDim) {
      for (Index p = 0; p < plane_lo; ++p) to[p * plane] = fill[p];
      for (Index p = plane_lo + kMade; p < planes; ++p) to[p * plane] = fill[p];
    }
  }
  // The first `count` of a group at `to`, as vectors if all are `full`. outside(j): position j is fill.
  template <int q, class Outside>
  PENSTOCK_HD inline void group(Out* to, int count, bool full, const Outside& outside, const Out (&y)[q][kMade]) const {
    if (full && all_planes && planar) {
      store_planes(to, plane, y);
    } else if (full && all_planes && interleaved) {
      store_pixels(to, y);
    } else {
      PENSTOCK_UNROLL
      for (int j = 0; j < q; ++j) {
        if (j >= count) break;
        Out* at = to + j * x;
        if (kFills && outside(j)) fill_at(at);
        else position(at, [&](int p) { return y[j][p]; });
      }
    }
  }
  // How store_whole() stores full groups of rows that are `rows` elements apart: 0 if it cannot.
  template <int q> PENSTOCK_HD inline int whole(const Out* out, Index rows) const {
    const auto aligned = [&](Index strides, uint64_t bytes) {  // to what a Vector of so many bytes is
      const uint64_t own = bytes & (~bytes + 1), most = own < 16 ? own : 16;
      return ((reinterpret_cast<uint64_t>(out) | static_cast<uint64_t>(strides * static_cast<Index>(sizeof(Out)))) &
              (most - 1)) == 0;
    };
    if (!all_planes) return 0;
    if (planar && aligned(plane | rows, q * sizeof(Out))) return 1;
    return interleaved && aligned(rows, q * sizeof(Out) * kMade) ? 2 : 0;
  }
};

}  // namespace penstock
