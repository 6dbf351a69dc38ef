// SPDX-License-Identifier: Apache-2.0
// Turns an operator's pixel() into tile functions, one per target and compute type. pixel() itself is written once,
// generic, and inlined into each loop.
#pragma once
#include <concepts>
#include <algorithm>
#include <cstring>

#include "base/target.h"
#include "operator/bound_op.h"
#include "pixel/math.h"

namespace penstock {

template <class Op> constexpr int operands_of = [] {
  if constexpr (requires { Op::operands; }) return Op::operands;
  else return 1;
}();
template <class Op, class V> constexpr bool mixes_channels = requires(Rgb<V> p, typename Op::template Coef<V> c) {
  { Op::pixel(p, c) } -> std::same_as<Rgb<V>>;
};

// The compute types that pixel() is compiled for; an operator may give more with `using Lanes = LaneList<float, double,
// ...>`.
template <class... V> struct LaneList {
  template <class U> static constexpr bool has = (std::is_same_v<U, V> || ...);
};
template <class Op> struct LanesOf {
  using type = LaneList<float>;
};
template <class Op>
  requires requires { typename Op::Lanes; } struct LanesOf<Op> {
  using type = typename Op::Lanes;
};

// The types of operands that an operator has a loop over memory for, without conversions:
// `using Dense = LaneList<...>;`
// and `template <class V> using DenseResult = ...;`, the type of the result in memory. The coefficients come from those
// of the compute type, by `template <class V> static Coef<V> in_own_type(const Coef<LaneNumber<V>>&)`, or with
// Coef<float> if float32 is what the operator computes integers in.
template <class V> using LaneNumber = std::conditional_t<std::is_floating_point_v<V>, V, int32_t>;
template <class Op, class V>
using DenseNumber = std::conditional_t<LanesOf<Op>::type::template has<LaneNumber<V>>, LaneNumber<V>, float>;

#define PENSTOCK_LOOPS loops
#define PENSTOCK_LOOPS_TEXT "operator/pixel_loop.inc.h"
#include "base/foreach_target.h"

template <class Op, class V>
TileFn tile_of(Target t) {
  return PENSTOCK_FOR_TARGET(t, &loops, pixel_tile<Op, V>);
}

template <class Op>
TileFn tile_of(Target t, Lane lane) {
  using L = typename LanesOf<Op>::type;
  switch (lane) {
    case Lane::f32:
      if constexpr (L::template has<float>) return tile_of<Op, float>(t);
      break;
    case Lane::f64:
      if constexpr (L::template has<double>) return tile_of<Op, double>(t);
      break;
    case Lane::i32:
      if constexpr (L::template has<int32_t>) return tile_of<Op, int32_t>(t);
      break;
    case Lane::i64:
      if constexpr (L::template has<int64_t>) return tile_of<Op, int64_t>(t);
      break;
    case Lane::u64:
      if constexpr (L::template has<uint64_t>) return tile_of<Op, uint64_t>(t);
      break;
  }
  return nullptr;
}

template <class Op, class V>
TileFn dense_loop_of(Target t) {
  if constexpr (Op::Dense::template has<V>)
    return PENSTOCK_FOR_TARGET(t, &loops, dense_loop<Op, V, typename Op::template DenseResult<V>>);
  else return nullptr;
}
// The loop over operands of this type in memory; nullptr: the operator has none. A signed type takes that of the
// unsigned one where the operator has no other, since then results depend on the bits alone.
template <class Op>
TileFn dense_loop_of(Target t, DType operands) {
  TileFn found = nullptr;
  switch (operands) {
    case DType::float32: return dense_loop_of<Op, float>(t);
    case DType::uint16: return dense_loop_of<Op, uint16_t>(t);
    case DType::int16: found = dense_loop_of<Op, int16_t>(t); return found ? found : dense_loop_of<Op, uint16_t>(t);
    case DType::bool_:
    case DType::uint8: return dense_loop_of<Op, uint8_t>(t);
    case DType::int8: found = dense_loop_of<Op, int8_t>(t); return found ? found : dense_loop_of<Op, uint8_t>(t);
    default: return nullptr;
  }
}

// Calls f(TypeTag<V>) for the number type of the lane if Op has it.
template <class Op, class F>
void with_lane(Lane lane, F&& f) {
  using L = typename LanesOf<Op>::type;
  switch (lane) {
    case Lane::f32:
      if constexpr (L::template has<float>) f(TypeTag<float>{});
      break;
    case Lane::f64:
      if constexpr (L::template has<double>) f(TypeTag<double>{});
      break;
    case Lane::i32:
      if constexpr (L::template has<int32_t>) f(TypeTag<int32_t>{});
      break;
    case Lane::i64:
      if constexpr (L::template has<int64_t>) f(TypeTag<int64_t>{});
      break;
    case Lane::u64:
      if constexpr (L::template has<uint64_t>) f(TypeTag<uint64_t>{});
      break;
  }
}

}  // namespace penstock
