// SPDX-License-Identifier: Apache-2.0
// The loops around pixel(), included once per target by pixel_tiles.h. The compiler vectorizes them. An output plane is
// an input plane or disjoint from it; "ivdep" tells this to the compiler, because a test at run time would send planes
// in place to scalar code.

// Whether an element is marked. In numbers as wide as the elements: the compiler does not vectorize a bool.
template <class V, class Test>
inline bool any_of(int64_t n, Test&& test) {
  using Mark = std::conditional_t<sizeof(V) == 8, int64_t, std::conditional_t<sizeof(V) == 4, int32_t, V>>;
  Mark marked = 0;
  for (int64_t i = 0; i < n; ++i) marked |= test(i) ? Mark(1) : Mark(0);
  return marked != 0;
}

// Two operands in runs: a constant, which has no array, becomes one of equal numbers, so that there is one loop; and
// what the test for a fault has read is still in the cache. R is the type of the result in memory.
template <class Op, class V, class R>
inline void pixel_pairs(const TileCall& t, const typename Op::template Coef<V>& c, const V* a, const V* b, R* o) {
  constexpr int64_t kRun = 4096 / sizeof(V);
  constexpr bool kReadsTwice = requires { Op::fault; } || requires { Op::pair_takes_near(*a, *b); };
  [[maybe_unused]] V constant[kRun];
  bool left = false;
  if constexpr (requires { c.constant; }) {
    left = !b && c.constant_left;
    if (!b) std::fill_n(constant, std::min(kRun, t.n), c.constant);
  }
  const int64_t run = b && !kReadsTwice ? std::max<int64_t>(t.n, 1) : kRun;
  for (int64_t from = 0; from < t.n; from += run) {
    const int64_t n = std::min(run, t.n - from);
    const V* first = left ? constant : a + from;
    const V* second = b ? b + from : left ? a + from : constant;
    R* to = o + from;
    if constexpr (requires { Op::fault; }) {
      *t.fault |= any_of<V>(n, [&](int64_t i) { return Op::refuses(first[i], second[i], c); });
    }
    if constexpr (requires { Op::pair_takes_near(first[0], second[0]); }) {
      if (!any_of<V>(n, [&](int64_t i) { return !Op::pair_takes_near(first[i], second[i]); })) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) to[i] = Op::pixel_near(first[i], second[i]);
        continue;
      }
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<R>(Op::pixel(first[i], second[i], c));
  }
}

// Operands and results in memory, in their own types: V and R.
template <class Op, class V, class R>
void dense_loop(const TileCall& t) {
  typename Op::template Coef<LaneNumber<V>> wide;
  std::memcpy(&wide, t.coef, sizeof wide);
  const auto c = Op::template in_own_type<V>(wide);
  const int64_t n = t.n;  // the stores of bytes could change a member
  for (int p = 0; p < t.planes; ++p) {
    const V* a = static_cast<const V*>(t.in[0][p]);
    R* o = static_cast<R*>(t.out[p]);
    if constexpr (operands_of<Op> == 2) {
      pixel_pairs<Op, V, R>(t, c, a, t.in[1] ? static_cast<const V*>(t.in[1][p]) : nullptr, o);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) o[i] = static_cast<R>(Op::pixel(a[i], c));
    }
  }
}

template <class Op, class V>
void pixel_tile(const TileCall& t) {
  using C = typename Op::template Coef<V>;
  constexpr int kOperands = operands_of<Op>;
  const int64_t n = t.n;
  C c;
  if constexpr (mixes_channels<Op, V>) {
    // Images of one or two channels are read as gray: all three inputs are plane 0; extra output planes go to a spare
    // row.
    std::memcpy(&c, t.coef, sizeof c);
    const V* __restrict r = static_cast<const V*>(t.in[0][0]);
    const V* __restrict g = static_cast<const V*>(t.in[0][t.in_planes > 2 ? 1 : 0]);
    const V* __restrict b = static_cast<const V*>(t.in[0][t.in_planes > 2 ? 2 : 0]);
    V* __restrict o0 = static_cast<V*>(t.out[0]);
    if (t.planes == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) o0[i] = Op::pixel(Rgb<V>{r[i], g[i], b[i]}, c).r;
    } else {
      V* __restrict o1 = static_cast<V*>(t.out[1]);
      V* __restrict o2 = static_cast<V*>(t.out[2]);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        const Rgb<V> v = Op::pixel(Rgb<V>{r[i], g[i], b[i]}, c);
        o0[i] = v.r, o1[i] = v.g, o2[i] = v.b;
      }
      for (int p = 3; p < t.planes && p < t.in_planes; ++p)  // alpha and further planes pass through
        std::memcpy(t.out[p], t.in[0][p], static_cast<size_t>(n) * sizeof(V));
    }
  } else {
    for (int p = 0; p < t.planes; ++p) {
      std::memcpy(&c, t.coef + p * t.coef_stride, sizeof c);
      V* o = static_cast<V*>(t.out[p]);
      const V* a = static_cast<const V*>(t.in[0][p]);
      if constexpr (kOperands == 1) {
        if constexpr (requires { Op::all_take_near(a[0]); }) {
          if (!any_of<V>(n, [&](int64_t i) { return !Op::all_take_near(a[i]); })) {
#pragma GCC ivdep
            for (int64_t i = 0; i < n; ++i) o[i] = Op::pixel_near(a[i]);
            continue;
          }
        }
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) o[i] = Op::pixel(a[i], c);
      } else if constexpr (kOperands == 2) {
        pixel_pairs<Op, V, V>(t, c, a, t.in[1] ? static_cast<const V*>(t.in[1][p]) : nullptr, o);
      } else {
        const V* b = static_cast<const V*>(t.in[1][p]);
        const V* d = static_cast<const V*>(t.in[2][p]);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) o[i] = Op::pixel(a[i], b[i], d[i], c);
      }
    }
  }
}
