// SPDX-License-Identifier: Apache-2.0
// The loop around pixel(), included once per target by pixel_tiles.h. The compiler vectorizes it. An output plane is an
// input plane or disjoint from it; "ivdep" tells this to the compiler, because a test at run time would send planes in
// place to scalar code.
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
          bool near = true;
          for (int64_t i = 0; i < n; ++i) near &= Op::all_take_near(a[i]);
          if (near) {
#pragma GCC ivdep
            for (int64_t i = 0; i < n; ++i) o[i] = Op::pixel_near(a[i]);
            continue;
          }
        }
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) o[i] = Op::pixel(a[i], c);
      } else if constexpr (kOperands == 2) {
        auto each = [&](auto left, auto right) __attribute__((always_inline)) {
          if constexpr (requires { Op::fault; }) {
            bool bad = false;
            for (int64_t i = 0; i < n; ++i) bad |= Op::refuses(left(i), right(i), c);
            *t.fault |= bad;
          }
#pragma GCC ivdep
          for (int64_t i = 0; i < n; ++i) o[i] = Op::pixel(left(i), right(i), c);
        };
        auto first = [a](int64_t i) { return a[i]; };
        if constexpr (requires { c.constant; }) {
          if (!t.in[1]) {
            const V k = c.constant;
            auto constant = [k](int64_t) { return k; };
            if (c.constant_left) each(constant, first);
            else each(first, constant);
            continue;
          }
        }
        const V* b = static_cast<const V*>(t.in[1][p]);
        each(first, [b](int64_t i) { return b[i]; });
      } else {
        const V* b = static_cast<const V*>(t.in[1][p]);
        const V* d = static_cast<const V*>(t.in[2][p]);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) o[i] = Op::pixel(a[i], b[i], d[i], c);
      }
    }
  }
}
