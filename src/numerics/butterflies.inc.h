// SPDX-License-Identifier: Apache-2.0
// Included by fourier.inc.h for each processor target, and by the kernel of cuda/whole/kernels/transform.h.

// P: a pair of vectors of lanes, or of floats in a kernel.
struct Butterflies {
  template <class P>
  PENSTOCK_INLINE static P plus(const P& a, const P& b) {
    return {a.re + b.re, a.im + b.im};
  }
  template <class P>
  PENSTOCK_INLINE static P minus(const P& a, const P& b) {
    return {a.re - b.re, a.im - b.im};
  }
  template <class P>
  PENSTOCK_INLINE static P times(const P& a, float re, float im) {
    return {a.re * re - a.im * im, a.re * im + a.im * re};
  }
  template <class P>
  PENSTOCK_INLINE static P turned(const P& a) {
    return {a.im, -a.re};
  }
  template <class P>
  PENSTOCK_INLINE static void two(const P* x, P* y) {
    y[0] = plus(x[0], x[1]), y[1] = minus(x[0], x[1]);
  }
  template <class P>
  PENSTOCK_INLINE static void three(const P* x, P* y) {
    const P sum = plus(x[1], x[2]), difference = minus(x[1], x[2]);
    const P middle{x[0].re - 0.5f * sum.re, x[0].im - 0.5f * sum.im};
    const P side = times(turned(difference), 0.866025404f, 0);
    y[0] = plus(x[0], sum), y[1] = plus(middle, side), y[2] = minus(middle, side);
  }
  template <class P>
  PENSTOCK_INLINE static void four(const P* x, P* y) {
    const P a = plus(x[0], x[2]), b = minus(x[0], x[2]), c = plus(x[1], x[3]), d = turned(minus(x[1], x[3]));
    y[0] = plus(a, c), y[1] = plus(b, d), y[2] = minus(a, c), y[3] = minus(b, d);
  }
  template <class P>
  PENSTOCK_INLINE static void five(const P* x, P* y) {
    constexpr float c1 = 0.309016994f, c2 = -0.809016994f, s1 = 0.951056516f, s2 = 0.587785252f;
    const P a = plus(x[1], x[4]), b = plus(x[2], x[3]), c = minus(x[1], x[4]), d = minus(x[2], x[3]);
    const P p{x[0].re + c1 * a.re + c2 * b.re, x[0].im + c1 * a.im + c2 * b.im};
    const P q{x[0].re + c2 * a.re + c1 * b.re, x[0].im + c2 * a.im + c1 * b.im};
    const P u = turned(P{s1 * c.re + s2 * d.re, s1 * c.im + s2 * d.im});
    const P v = turned(P{s2 * c.re - s1 * d.re, s2 * c.im - s1 * d.im});
    y[0] = {x[0].re + a.re + b.re, x[0].im + a.im + b.im};
    y[1] = plus(p, u), y[2] = plus(q, v), y[3] = minus(q, v), y[4] = minus(p, u);
  }
  // Result k for any number of elements.
  template <class P>
  PENSTOCK_INLINE static P many(const P* x, int64_t step, int n, int k, const float* roots) {
    P sum = x[0];
    for (int r = 1; r < n; ++r) {
      const float* root = roots + 2 * (static_cast<int64_t>(r) * k % n);
      sum = plus(sum, times(x[r * step], root[0], root[1]));
    }
    return sum;
  }
  // Element k of the spectrum of a real signal, from elements k and m - k of the transform of its even and odd
  // halves.
  template <class P>
  PENSTOCK_INLINE static P bin(const P& a, const P& b, float re, float im) {
    const auto even_re = 0.5f * (a.re + b.re), even_im = 0.5f * (a.im - b.im);
    const auto odd_re = 0.5f * (a.im + b.im), odd_im = 0.5f * (b.re - a.re);
    return plus(P{even_re, even_im}, times(P{odd_re, odd_im}, re, im));
  }
  template <class P>
  PENSTOCK_INLINE static auto power(const P& a, const P& b, float re, float im) {
    const P x = bin(a, b, re, im);
    return x.re * x.re + x.im * x.im;
  }
};
