// SPDX-License-Identifier: Apache-2.0
// The loops around pixel(), included once per target by pixel_tiles.h. The compiler vectorizes them. An output plane is
// an input plane or disjoint from it; "ivdep" tells this to the compiler, because a test at run time would send planes
// in place to scalar code.

// Whether an element is marked. In numbers as wide as the elements: the compiler does not vectorize a bool.
template <class V> using Mark =
    std::conditional_t<sizeof(V) == 8, int64_t, std::conditional_t<sizeof(V) == 4, int32_t, V>>;
template <class V, class Test>
inline bool any_of(int64_t n, Test&& test) {
  Mark<V> marked = 0;
  for (int64_t i = 0; i < n; ++i) marked |= test(i) ? Mark<V>(1) : Mark<V>(0);
  return marked != 0;
}

// A loop with much arithmetic, or with two operands, sees too few loads ahead to keep memory busy. So it goes over
// runs of elements and asks for those of a later run.
constexpr int64_t kRunBytes = 1024, kAheadBytes = 2048;
constexpr int64_t kRegister = 2048;  // a longer tile is not a register but memory
inline __attribute__((always_inline)) void prefetch_run(const void* at) {
  for (int64_t i = kAheadBytes; i < kAheadBytes + kRunBytes; i += 64)
    __builtin_prefetch(static_cast<const char*>(at) + i);
}
// An operand in runs, and how far the next run is: 0 for a constant, whose run serves all.
template <class V> struct RunsOf {
  const V* at;
  int64_t step = kRunBytes / sizeof(V);
};
// Runs whose elements all pass `test` take near(a, b), the others any(a, b).
template <class V, class Test, class Near, class Any>
inline __attribute__((always_inline)) void near_or_any(int64_t n, RunsOf<V> a, RunsOf<V> b, V* o, const Test& test,
                                                       const Near& near, const Any& any) {
  constexpr int64_t kRun = kRunBytes / sizeof(V);
  for (; n > 0; n -= kRun, a.at += a.step, b.at += b.step, o += kRun) {
    const int64_t count = std::min(kRun, n);
    const V *x = a.at, *y = b.at;
    prefetch_run(x);
    if (y != x) prefetch_run(y);
    if (any_of<V>(count, [&](int64_t i) { return !test(x[i], y[i]); })) {
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) o[i] = any(x[i], y[i]);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) o[i] = near(x[i], y[i]);
    }
  }
}

// Two operands in runs: a constant, which has no array, becomes one of equal numbers, so that there is one loop; and
// what the test for a fault has read is still in the cache. R is the type of the result in memory.
template <class Op, class V, class R>
inline void pixel_pairs(const TileCall& t, const typename Op::template Coef<V>& c, const V* a, const V* b, R* o) {
  constexpr int64_t kRun = 4096 / sizeof(V);
  constexpr bool kHasNear = requires { Op::pair_takes_near(*a, *b); }, kFaults = requires { Op::fault; };
  constexpr bool kReadsAhead = (std::is_same_v<V, float> && sizeof(R) == 1) || requires { Op::reads_ahead; };
  [[maybe_unused]] V constant[kRun];
  bool left = false;
  if constexpr (requires { c.constant; }) {
    left = !b && c.constant_left;
    if (!b) std::fill_n(constant, std::min(kRun, t.n), c.constant);
  }
  if constexpr (kHasNear) {
    const RunsOf<V> own{a}, other = b ? RunsOf<V>{b} : RunsOf<V>{constant, 0};
    near_or_any<V>(
        t.n, left ? other : own, left ? own : other, o,
        [](V x, V y) __attribute__((always_inline)) { return Op::pair_takes_near(x, y); },
        [](V x, V y) __attribute__((always_inline)) { return Op::pixel_near(x, y); },
        [&](V x, V y) __attribute__((always_inline)) { return static_cast<R>(Op::pixel(x, y, c)); });
    return;
  }
  const bool ahead = kReadsAhead && b && t.n > kRegister;
  const int64_t run = ahead           ? kRunBytes / static_cast<int64_t>(sizeof(V))
                      : b && !kFaults ? std::max<int64_t>(t.n, 1)
                                      : kRun;
  for (int64_t from = 0; from < t.n; from += run) {
    const int64_t n = std::min(run, t.n - from);
    const V* first = left ? constant : a + from;
    const V* second = b ? b + from : left ? a + from : constant;
    R* to = o + from;
    if (ahead) prefetch_run(first), prefetch_run(second);
    if constexpr (kFaults) {
      *t.fault |= any_of<V>(n, [&](int64_t i) { return Op::refuses(first[i], second[i], c); });
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<R>(Op::pixel(first[i], second[i], c));
  }
}

// Operands and results in memory, in their own types: V and R.
template <class Op, class V, class R>
void dense_loop(const TileCall& t) {
  typename Op::template Coef<DenseNumber<Op, V>> wide;
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
          near_or_any<V>(
              n, {a}, {a}, o, [](V x, V) __attribute__((always_inline)) { return Op::all_take_near(x); },
              [](V x, V) __attribute__((always_inline)) { return Op::pixel_near(x); },
              [&](V x, V) __attribute__((always_inline)) { return Op::pixel(x, c); });
          continue;
        }
        constexpr bool kReadsAhead = requires { Op::reads_ahead; };
        const bool ahead = kReadsAhead && n > kRegister;
        const int64_t run = ahead ? kRunBytes / static_cast<int64_t>(sizeof(V)) : std::max<int64_t>(n, 1);
        for (int64_t from = 0; from < n; from += run) {
          const int64_t end = std::min(from + run, n);
          if (ahead) prefetch_run(a + from);
#pragma GCC ivdep
          for (int64_t i = from; i < end; ++i) o[i] = Op::pixel(a[i], c);
        }
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
