// SPDX-License-Identifier: Apache-2.0
// Loops over dimensions. A thread takes a few positions of the innermost one: their elements come and go as vectors if
// they are contiguous.
#pragma once
#include "cuda/kernels/stage_group.h"
#include "cuda/kernels/stage_loops.h"

namespace penstock {

template <class Stage> struct GroupsOf {
  template <class T> struct Group {
    T v[Stage::kGroup][Stage::kPlanes];
  };
};

// Contiguous pixels of bytes to planes, if all groups are whole and aligned, as mostly: a loop with nothing else in it
// needs few registers, so that many blocks share a multiprocessor. False: it is not so.
template <class Stage>
__device__ inline bool whole_groups_to_planes(const StageBlock<Stage>& b, const StageLoops<Stage>& loops,
                                              const StageStore<Stage>& store, const typename Stage::Out* results,
                                              typename Stage::Index groups) {
  using Index = typename Stage::Index;
  using Out = typename Stage::Out;
  constexpr int q = Stage::kGroup, n = Stage::kPlanes, kDims = StageLoops<Stage>::kDims, kLast = kDims - 1;
  using Source = Vector<uint8_t, q * n>;
  using Target = Vector<Out, q>;
  uint64_t in = reinterpret_cast<uint64_t>(b.in.own);
  Index out = store.plane;
  PENSTOCK_UNROLL
  for (int d = 0; d < kLast; ++d) in |= static_cast<uint64_t>(loops.in[0][d]), out |= loops.out[d];
  const uint64_t to_bytes = reinterpret_cast<uint64_t>(b.out) | static_cast<uint64_t>(out) * sizeof(Out);
  if (loops.plane_in[0] != 1 || loops.in[0][kLast] != n || loops.out[kLast] != 1 || loops.extent[kLast] % q != 0 ||
      (in & (alignof(Source) - 1)) != 0 || (to_bytes & (alignof(Target) - 1)) != 0)
    return false;
  const Index hop = static_cast<Index>(blockDim.x);
  for (Index i = b.begin + static_cast<Index>(threadIdx.x); i < b.end; i += hop) {
    Index x[kDims];
    loops.place(i, groups, q, x);
    const Source g = *reinterpret_cast<const Source*>(b.in.own + loops.offset(x, loops.in[0]));
    Out* to = b.out + loops.offset(x, loops.out);
    PENSTOCK_UNROLL
    for (int p = 0; p < n; ++p) {
      Target y;
      PENSTOCK_UNROLL
      for (int j = 0; j < q; ++j) y.v[j] = results[p * 256 + g.v[j * n + p]];
      *reinterpret_cast<Target*>(to + p * store.plane) = y;
    }
  }
  return true;
}

template <class Stage> __device__ inline void positions(const char* table) {
  using Index = typename Stage::Index;
  using Out = typename Stage::Out;
  constexpr int q = Stage::kGroup, planes = Stage::kPlanes, made = Stage::kOutPlanes;
  constexpr int kDims = StageLoops<Stage>::kDims, kLast = kDims - 1;
  constexpr bool kFills = Stage::kRow.fills;
  const StageBlock<Stage> b(table);
  const typename Stage::Coefs coefs(b.coefs + b.row.head().coefs);
  const Out* results = shared_results(b, coefs);
  const StageLoops<Stage> loops(b.row);
  const StageStore<Stage> store(b, kLast);
  const Index groups = (loops.extent[kLast] + q - 1) / q;
  if constexpr (Stage::kTable && !kReadsFrames<Stage> && !kFills && planes > 1 && made == planes)
    if (whole_groups_to_planes(b, loops, store, results, groups)) return;
  for (Index i = b.begin + static_cast<Index>(threadIdx.x); i < b.end; i += static_cast<Index>(blockDim.x)) {
    Index x[kDims];
    loops.place(i, groups, q, x);
    Out* to = b.out + loops.offset(x, loops.out);
    const Index left = loops.extent[kLast] - x[kLast], lo = loops.lo[kLast], hi = loops.hi[kLast];
    const int count = left < q ? static_cast<int>(left) : q;
    bool row = true, full = count == q;
    if constexpr (kFills) {
      PENSTOCK_UNROLL
      for (int d = 0; d < kLast; ++d) row = row && x[d] >= loops.lo[d] && x[d] < loops.hi[d];
      full = row && full && x[kLast] >= lo && x[kLast] + q <= hi;
    }
    const auto reads = [&](int j) { return kFills ? row && x[kLast] + j >= lo && x[kLast] + j < hi : j < count; };
    typename Stage::template OfInputs<GroupsOf<Stage>::template Group> g;
    for_each_input<Stage::kRow.inputs>([&](auto k) {
      using In = typename Stage::template In<k.value>;
      const Index step = loops.in[k.value][kLast], plane = loops.plane_in[k.value];
      const auto from = value_of<k.value>(b.in) + loops.offset(x, loops.in[k.value]);
      auto& own = value_of<k.value>(g).v;
      if constexpr (kReadsFrames<Stage>) {
        const bool pixels = planes == Stage::Frame::kChannels && (planes == 1 || plane == 1);
        PENSTOCK_UNROLL
        for (int j = 0; j < q; ++j) {
          if (pixels && reads(j)) from.pixel(j * step, own[j]);
          else
            for (int p = 0; p < planes; ++p) own[j][p] = reads(j) ? from[j * step + p * plane] : In(0);
        }
      } else if (full && (planes == 1 || plane == 1) && (step == planes || step == -planes)) {
        load_group(from, step > 0, own);
      } else {
        PENSTOCK_UNROLL
        for (int j = 0; j < q; ++j)
          for (int p = 0; p < planes; ++p) own[j][p] = reads(j) ? from[j * step + p * plane] : In(0);
      }
    });
    Out y[q][made];
    const auto load = [&](int j, auto k, int p) { return value_of<k.value>(g).v[j][p]; };
    if constexpr (Stage::kTable || Stage::kCopies) {
      PENSTOCK_UNROLL
      for (int j = 0; j < q; ++j)
        for (int p = 0; p < made; ++p) {
          const auto own = load(j, Known<0>(), p);
          if constexpr (Stage::kTable) y[j][p] = results[p * 256 + own];
          else y[j][p] = own;
        }
    } else {
      group_results<Stage, q>(
          [&](int j, typename Stage::Number(&numbers)[made]) {
            const auto of_input = [&](auto k, int p) { return load(j, k, p); };
            Stage::apply(coefs, of_input, numbers, b.fault, !Stage::kRow.faults || reads(j));
          },
          y);
    }
    store.group(to, count, full, [&](int j) { return !reads(j); }, y);
  }
}

}  // namespace penstock
