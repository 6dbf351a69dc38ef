// SPDX-License-Identifier: Apache-2.0
// Runs any stage: reads its instructions from the table and interprets them with the same functions that emitted
// kernels use, and so gives the same bits. One thread a position, values in local memory.
#pragma once
#include "cuda/kernels/affine_cover.h"
#include "cuda/kernels/dtypes.h"
#include "cuda/kernels/generic_program.h"
#include "launch/find_entry.h"
#include "pixel/affine.h"

#ifdef PENSTOCK_EMULATED
#define PENSTOCK_CALLED inline
#else
#define PENSTOCK_CALLED __noinline__
#endif
namespace penstock {
// A number of any compute type.
template <class V> __device__ inline V get(uint64_t n) {
  if constexpr (sizeof(V) == 4) return std::bit_cast<V>(static_cast<uint32_t>(n));
  else return std::bit_cast<V>(n);
}
template <class V> __device__ inline uint64_t number(V v) {
  if constexpr (sizeof(V) == 4) return std::bit_cast<uint32_t>(v);
  else return std::bit_cast<uint64_t>(v);
}
template <class T> __device__ PENSTOCK_CALLED uint64_t load_as(int lane, T v){
#define PENSTOCK_CASE(V) return number(to_lane<T, V>(v))
    PENSTOCK_LANES(lane, PENSTOCK_CASE)
#undef PENSTOCK_CASE
} __device__ PENSTOCK_CALLED uint64_t load(int dtype, int lane, const char* from) {
#define PENSTOCK_CASE(T) return load_as<T>(lane, *reinterpret_cast<const T*>(from))
  PENSTOCK_TYPES(dtype, PENSTOCK_CASE)
#undef PENSTOCK_CASE
}
template <class T> __device__ PENSTOCK_CALLED T stored_as(int lane, uint64_t n){
#define PENSTOCK_CASE(V) return from_lane<V, T>(get<V>(n))
    PENSTOCK_LANES(lane, PENSTOCK_CASE)
#undef PENSTOCK_CASE
} __device__ PENSTOCK_CALLED void store(int dtype, int lane, uint64_t n, char* to) {
#define PENSTOCK_CASE(T) return static_cast<void>(*reinterpret_cast<T*>(to) = stored_as<T>(lane, n))
  PENSTOCK_TYPES(dtype, PENSTOCK_CASE)
#undef PENSTOCK_CASE
}
template <class T> __device__ PENSTOCK_CALLED uint64_t rounded_as(int lane, uint64_t n){
#define PENSTOCK_CASE(V) return number(round_to<T>(get<V>(n)))
    PENSTOCK_LANES(lane, PENSTOCK_CASE)
#undef PENSTOCK_CASE
} __device__ PENSTOCK_CALLED uint64_t rounded(int dtype, int lane, uint64_t n) {
#define PENSTOCK_CASE(T) return rounded_as<T>(lane, n)
  PENSTOCK_TYPES(dtype, PENSTOCK_CASE)
#undef PENSTOCK_CASE
}
template <class A> __device__ PENSTOCK_CALLED uint64_t converted_from(int lane, A v){
#define PENSTOCK_CASE(V) return number(change_lane<A, V>(v))
    PENSTOCK_LANES(lane, PENSTOCK_CASE)
#undef PENSTOCK_CASE
} __device__ PENSTOCK_CALLED uint64_t converted(int from, int lane, uint64_t n){
#define PENSTOCK_CASE(A) return converted_from<A>(lane, get<A>(n))
    PENSTOCK_LANES(from, PENSTOCK_CASE)
#undef PENSTOCK_CASE
} __device__ inline void copy_element(int size, const char* from, char* to) {
  if (size == 1) *to = *from;
  else if (size == 2) *reinterpret_cast<uint16_t*>(to) = *reinterpret_cast<const uint16_t*>(from);
  else if (size == 4) *reinterpret_cast<uint32_t*>(to) = *reinterpret_cast<const uint32_t*>(from);
  else *reinterpret_cast<uint64_t*>(to) = *reinterpret_cast<const uint64_t*>(from);
}

// The values of a position: its planes from `first` on.
struct GenericValues {
  uint64_t v[kGenericSlots][kGenericPlanes];
};

template <class Op, class V> __device__ inline void apply(GenericValues& all, const GenericStep& s, const char* coefs,
                                                          int first, int planes, int32_t* fault) {
  using C = typename Op::template Coef<V>;
  const C* c = reinterpret_cast<const C*>(coefs + s.coef);
  const uint64_t* x = all.v[s.from[0]];
  uint64_t* to = all.v[s.to];
  if constexpr (requires(Rgb<V> q, C k) { Op::pixel(q, k).r; }) {
    const int before = s.planes_before, g = before > 2 ? 1 : 0, b = before > 2 ? 2 : 0;
    const Rgb<V> q = Op::pixel(Rgb<V>{get<V>(x[0]), get<V>(x[g]), get<V>(x[b])}, *c);
    to[0] = number(q.r);
    if (planes > 1) to[1] = number(q.g);
    if (planes > 2) to[2] = number(q.b);
    for (int p = 3; p < planes; ++p) to[p] = p < before ? x[p] : number(V(0));
  } else {
    for (int p = 0; p < planes; ++p) {
      const C& k = *reinterpret_cast<const C*>(reinterpret_cast<const char*>(c) + (first + p) * s.coef_step);
      V r;
      const V v = get<V>(x[p]);
      if constexpr (requires { Op::pixel(v, v, v, k); }) {
        const V b = get<V>(all.v[s.from[1]][p]), d = get<V>(all.v[s.from[2]][p]);
        if constexpr (requires { Op::refuses(v, b, d, k); })
          if (s.faults && Op::refuses(v, b, d, k)) *fault = 1;
        r = Op::pixel(v, b, d, k);
      } else if constexpr (requires { Op::pixel(v, v, k); }) {
        V a = v, b = v;
        if (s.from[1] >= 0) {
          b = get<V>(all.v[s.from[1]][p]);
        } else {
          if constexpr (requires { k.constant_left; }) {
            if (k.constant_left) a = k.constant;
            else b = k.constant;
          }
        }
        if constexpr (requires { Op::refuses(a, b, k); })
          if (s.faults && Op::refuses(a, b, k)) *fault = 1;
        r = Op::pixel(a, b, k);
      } else {
        if constexpr (requires { Op::refuses(v, k); })
          if (s.faults && Op::refuses(v, k)) *fault = 1;
        r = Op::pixel(v, k);
      }
      to[p] = number(r);
    }
  }
}
struct GenericAxis {
  TapRange range;
  int64_t step;
  const float* weight;
};
template <class T> __device__ PENSTOCK_CALLED float sum_of(const T* in, const GenericAxis* axis) {
  float r0 = 0;
  for (int i = axis[0].range.from; i < axis[0].range.to; ++i) {
    const T* in1 = in + i * axis[0].step;
    float r1 = 0;
    for (int j = axis[1].range.from; j < axis[1].range.to; ++j) {
      const T* in2 = in1 + j * axis[1].step;
      float r2 = 0;
      for (int k = axis[2].range.from; k < axis[2].range.to; ++k) {
        const float v = to_lane<T, float>(in2[k * axis[2].step]), w = axis[2].weight[k];
        r2 = k == axis[2].range.from ? w * v : fma(w, v, r2);
      }
      r1 = j == axis[1].range.from ? axis[1].weight[j] * r2 : fma(axis[1].weight[j], r2, r1);
    }
    r0 = i == axis[0].range.from ? axis[0].weight[i] * r1 : fma(axis[0].weight[i], r1, r0);
  }
  return r0;
}
__device__ PENSTOCK_CALLED float tap_sum(int dtype, const char* in, const GenericAxis* axis) {
#define PENSTOCK_CASE(T) return sum_of<T>(reinterpret_cast<const T*>(in), axis)
  PENSTOCK_TYPES(dtype, PENSTOCK_CASE)
#undef PENSTOCK_CASE
}

struct GenericWarp {
  const double* m;
  const int64_t* extent;
  int64_t stride[3], x[3];
  float outside;
  bool nearest, border_fill, in_integers;
  int dtype, size;
};
template <class V> struct GenericLoad {
  const char* in;
  int dtype, size;
  __device__ V operator()(int64_t offset) const {
    constexpr int lane = std::is_same_v<V, float>     ? 0
                         : std::is_same_v<V, double>  ? 1
                         : std::is_same_v<V, int32_t> ? 2
                         : std::is_same_v<V, int64_t> ? 3
                                                      : 4;
    return get<V>(load(dtype, lane, in + offset * size));
  }
};
template <int dims, class V> __device__ PENSTOCK_CALLED uint64_t warped_in(const GenericWarp& w, const char* in) {
  const auto point = affine_point<dims>(w.m, w.x[0], w.x[1], w.x[2], w.nearest);
  if (w.nearest) {
    const GenericLoad<V> load{in, w.dtype, w.size};
    const AffineChannel<dims, V, GenericLoad<V>> channel{w.extent, w.stride, w.border_fill, fill_in_lane<V>(w.outside),
                                                         load};
    return number(channel.tap(point, 0));
  }
  if constexpr (std::is_same_v<V, float> || std::is_same_v<V, double>) {
    const GenericLoad<V> load{in, w.dtype, w.size};
    const AffineChannel<dims, V, GenericLoad<V>> channel{w.extent, w.stride, w.border_fill, fill_in_lane<V>(w.outside),
                                                         load};
    if constexpr (dims == 2)
      if (w.in_integers) return number(channel.linear_bytes(point));
    return number(covered_linear(channel, point));
  } else {
    const GenericLoad<double> load{in, w.dtype, w.size};
    const AffineChannel<dims, double, GenericLoad<double>> channel{w.extent, w.stride, w.border_fill,
                                                                   fill_in_lane<double>(w.outside), load};
    return number(change_lane<double, V>(covered_linear(channel, point)));
  }
}
__device__ PENSTOCK_CALLED uint64_t warped(int dims, int lane, const GenericWarp& w, const char* in){
#define PENSTOCK_CASE(V) return dims == 3 ? warped_in<3, V>(w, in) : warped_in<2, V>(w, in)
    PENSTOCK_LANES(lane, PENSTOCK_CASE)
#undef PENSTOCK_CASE
}

// Where input k is read, without the dimensions that have taps or a warp.
__device__ inline int64_t
    offset_in(const GenericProgram& g, const StageRow<const char>& s, const int64_t (&x)[8], int k) {
  int64_t offset = 0;
  for (int d = 0; d < g.dims; ++d) {
    bool special = false;
    if (k == 0) {
      for (int n = 0; n < g.axes; ++n) special = special || g.axis_dim[n] == d;
      for (int n = 0; n < 3; ++n) special = special || g.warp_dim[n] == d;
    }
    if (!special) offset += x[d] * s.dim(d).in_stride[k];
  }
  return offset;
}
// The taps of a position; gives where the first ones are. An axis without any has one, of weight *one.
__device__ inline int64_t axes_at(const char* table, const GenericProgram& g, const StageRow<const char>& s,
                                  const int64_t (&x)[8], const float* one, GenericAxis (&axis)[kGenericAxes]) {
  int64_t offset = 0;
  for (int k = 0; k < kGenericAxes; ++k) {
    axis[k] = {{0, 1}, 0, one};
    if (k >= g.axes) continue;
    const TapsRow& w = s.axis(k);
    const LoopRow& own = s.dim(g.axis_dim[k]);
    const int64_t t = x[g.axis_dim[k]] - (g.fills ? own.lo : 0);
    const int taps = static_cast<int>(w.taps);
    axis[k].step = w.step * own.in_stride[0];
    offset += static_cast<int64_t>(reinterpret_cast<const int32_t*>(table + w.first)[t]) * axis[k].step;
    axis[k].weight = reinterpret_cast<const float*>(table + w.weight) + t * taps;
    axis[k].range = g.axis_dim[k] == g.vertical ? weighted_taps(axis[k].weight, 1, taps) : TapRange{0, taps};
  }
  return offset;
}
__device__ inline GenericWarp warp_at(const char* table, const GenericProgram& g, const StageRow<const char>& s,
                                      const int64_t (&x)[8]) {
  const WarpRow& w = s.warp();
  GenericWarp warp;
  warp.m = w.m;
  warp.extent = w.source.extent;
  for (int n = 0; n < 3; ++n) {
    warp.stride[n] = g.warp_dim[n] < 0 ? 0 : s.dim(g.warp_dim[n]).in_stride[0];
    warp.x[n] = g.warp_dim[n] < 0 ? 0 : x[g.warp_dim[n]];
  }
  warp.outside = *reinterpret_cast<const float*>(table + w.source.fill);
  warp.nearest = w.source.nearest != 0, warp.border_fill = w.source.border_fill != 0;
  warp.in_integers = g.in_integers != 0;
  warp.dtype = g.in_dtype[0], warp.size = g.in_size[0];
  return warp;
}

template <class Operators>
__device__ inline void position(const char* table, const GenericProgram& g, const StageRow<const char>& s, int64_t i) {
  const GenericStep* steps = reinterpret_cast<const GenericStep*>(&g + 1);
  int64_t x[8], rest = i, o = 0;
  bool inside = true;
  for (int d = g.dims - 1; d >= 0; --d) {
    const LoopRow& dim = s.dim(d);
    x[d] = d > 0 ? rest % dim.extent : rest;
    if (d > 0) rest /= dim.extent;
    o += x[d] * dim.out_stride;
    if (g.fills) inside = inside && x[d] >= dim.lo && x[d] < dim.hi;
  }
  char* out = s.head().out;
  const char* fill = g.fills ? table + s.fill() : table;
  const LoopRow& plane = s.plane();
  const int64_t pos = g.has_plane ? plane.out_stride : 0, plo = g.has_plane ? plane.lo : 0,
                pn = g.has_plane ? plane.extent : 1;
  if (!inside) {
    for (int64_t p = 0; p < pn; ++p) copy_element(g.out_size, fill + p * g.out_size, out + (o + p * pos) * g.out_size);
    return;
  }
  int64_t a[4];
  for (int k = 0; k < g.inputs; ++k) a[k] = offset_in(g, s, x, k);
  const int32_t* pick = g.picks_planes ? reinterpret_cast<const int32_t*>(table + s.plane_pick()) : nullptr;

  GenericAxis axis[kGenericAxes];
  const float one = 1.0f;
  const bool indexed = g.kind == 1 && s.indexed() != 0;
  if (g.kind == 1) a[0] += axes_at(table, g, s, x, &one, axis);
  GenericWarp warp;
  if (g.kind == 2) warp = warp_at(table, g, s, x);

  const char* coefs = table + s.head().coefs;
  int32_t* fault = g.row.faults ? s.fault() : nullptr;
  GenericValues all;
  for (int first = 0; first < g.planes; first += kGenericPlanes) {
    const int at_hand = g.planes - first < kGenericPlanes ? g.planes - first : kGenericPlanes;
    auto place = [&](int k, int p) {
      int64_t offset = a[k];
      if (g.has_plane)
        offset += (pick && k == 0 ? static_cast<int64_t>(pick[first + p]) : first + p) * plane.in_stride[k];
      return s.head().in[k] + offset * g.in_size[k];
    };
    if (g.copies) {
      for (int p = 0; p < at_hand; ++p)
        copy_element(g.out_size, place(0, p), out + (o + (plo + first + p) * pos) * g.out_size);
      continue;
    }
    for (int p = 0; g.kind > 0 && p < at_hand; ++p) {
      uint64_t& v = all.v[g.source][p];
      if (g.kind == 2) v = warped(g.warp_dim[2] < 0 ? 2 : 3, g.source_lane, warp, place(0, p));
      else if (indexed) v = load(g.in_dtype[0], g.source_lane, place(0, p));
      else v = converted(0, g.source_lane, number(tap_sum(g.in_dtype[0], place(0, p), axis)));
    }
    for (int n = 0; n < g.steps; ++n) {
      const GenericStep& step = steps[n];
      const int planes = g.chunked ? at_hand : step.planes;
      if (step.kind == 1) {
        Operators::operate(all, step, coefs, first, planes, fault);
        continue;
      }
      for (int p = 0; p < planes; ++p) {
        uint64_t& to = all.v[step.to][p];
        if (step.kind == 0) to = load(step.dtype, step.lane, place(step.from[0], p));
        else if (step.kind == 3) to = rounded(step.dtype, step.lane, to);
        else to = converted(step.from_lane, step.lane, all.v[step.from[0]][p]);
      }
    }
    const int planes = g.chunked ? at_hand : g.out_planes;
    for (int p = 0; p < planes; ++p)
      store(g.out_dtype, g.result_lane, all.v[g.result][p], out + (o + (plo + first + p) * pos) * g.out_size);
  }
  if (g.fills && g.has_plane) {
    for (int64_t p = 0; p < plo; ++p) copy_element(g.out_size, fill + p * g.out_size, out + (o + p * pos) * g.out_size);
    for (int64_t p = plo + g.out_planes; p < pn; ++p)
      copy_element(g.out_size, fill + p * g.out_size, out + (o + p * pos) * g.out_size);
  }
}

template <class Operators> __device__ inline void interpret(const char* table) {
  const TableHeader& head = *reinterpret_cast<const TableHeader*>(table);
  const int32_t* starts = reinterpret_cast<const int32_t*>(table + head.starts);
  const GenericProgram& g = *reinterpret_cast<const GenericProgram*>(table + head.program);
  const int entry = find_entry(starts, static_cast<int>(head.entries), static_cast<int>(blockIdx.x));
  const StageRow<const char> s{g.row, table + head.rows + static_cast<int64_t>(entry) * g.row.bytes()};
  const int64_t total = s.head().positions, block = head.block;
  const int64_t begin = static_cast<int64_t>(static_cast<int>(blockIdx.x) - starts[entry]) * block;
  const int64_t end = total - begin < block ? total : begin + block;
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) position<Operators>(table, g, s, i);
}
}  // namespace penstock
