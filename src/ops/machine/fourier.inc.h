// SPDX-License-Identifier: Apache-2.0
// Included once for each processor target by fourier.cpp.

typedef float Lanes __attribute__((vector_size(4 * kFourierLanes), aligned(4)));

struct Pair {
  Lanes re, im;
};

// P: a pair of vectors of lanes, or of floats in a kernel.
struct Butterflies {
  PENSTOCK_PIXEL(
    template <class P> PENSTOCK_INLINE static P plus(const P& a, const P& b) { return {a.re + b.re, a.im + b.im}; }
    template <class P> PENSTOCK_INLINE static P minus(const P& a, const P& b) { return {a.re - b.re, a.im - b.im}; }
    template <class P> PENSTOCK_INLINE static P times(const P& a, float re, float im) {
      return {a.re * re - a.im * im, a.re * im + a.im * re};
    }
    template <class P> PENSTOCK_INLINE static P turned(const P& a) { return {a.im, -a.re}; }
    template <class P> PENSTOCK_INLINE static void two(const P* x, P* y) { y[0] = plus(x[0], x[1]), y[1] = minus(x[0], x[1]); }
    template <class P> PENSTOCK_INLINE static void three(const P* x, P* y) {
      const P sum = plus(x[1], x[2]), difference = minus(x[1], x[2]);
      const P middle{x[0].re - 0.5f * sum.re, x[0].im - 0.5f * sum.im};
      const P side = times(turned(difference), 0.866025404f, 0);
      y[0] = plus(x[0], sum), y[1] = plus(middle, side), y[2] = minus(middle, side);
    }
    template <class P> PENSTOCK_INLINE static void four(const P* x, P* y) {
      const P a = plus(x[0], x[2]), b = minus(x[0], x[2]), c = plus(x[1], x[3]), d = turned(minus(x[1], x[3]));
      y[0] = plus(a, c), y[1] = plus(b, d), y[2] = minus(a, c), y[3] = minus(b, d);
    }
    template <class P> PENSTOCK_INLINE static void five(const P* x, P* y) {
      constexpr float c1 = 0.309016994f, c2 = -0.809016994f, s1 = 0.951056516f, s2 = 0.587785252f;
      const P a = plus(x[1], x[4]), b = plus(x[2], x[3]), c = minus(x[1], x[4]), d = minus(x[2], x[3]);
      const P p{x[0].re + c1 * a.re + c2 * b.re, x[0].im + c1 * a.im + c2 * b.im};
      const P q{x[0].re + c2 * a.re + c1 * b.re, x[0].im + c2 * a.im + c1 * b.im};
      const P u = turned(P{s1 * c.re + s2 * d.re, s1 * c.im + s2 * d.im});
      const P v = turned(P{s2 * c.re - s1 * d.re, s2 * c.im - s1 * d.im});
      y[0] = {x[0].re + a.re + b.re, x[0].im + a.im + b.im};
      y[1] = plus(p, u), y[2] = plus(q, v), y[3] = minus(q, v), y[4] = minus(p, u);
    }
    // Result k of any number of elements.
    template <class P> PENSTOCK_INLINE static P many(const P* x, int64_t step, int n, int k, const float* roots) {
      P sum = x[0];
      for (int r = 1; r < n; ++r) {
        const float* root = roots + 2 * (static_cast<int64_t>(r) * k % n);
        sum = plus(sum, times(x[r * step], root[0], root[1]));
      }
      return sum;
    }
    // The spectrum of a real signal's element k from the transform's elements k and m - k of its even and odd halves.
    template <class P> PENSTOCK_INLINE static auto power(const P& a, const P& b, float re, float im) {
      const auto even_re = 0.5f * (a.re + b.re), even_im = 0.5f * (a.im - b.im);
      const auto odd_re = 0.5f * (a.im + b.im), odd_im = 0.5f * (b.re - a.re);
      const P turn = times(P{odd_re, odd_im}, re, im);
      const auto x = even_re + turn.re, y = even_im + turn.im;
      return x * x + y * y;
    });
};
template <int radix>
void run_stage(const RealFourier::Stage& s, const Pair* x, Pair* y, Pair* scratch) {
  const int n = radix ? radix : s.radix, m = s.groups, span = s.span;
  Pair fixed[2 * (radix ? radix : 1)];
  Pair* const in = radix ? fixed : scratch;
  Pair* const out = in + n;
  for (int j = 0; j < m; ++j) {
    const float* w = &s.twiddles[2 * static_cast<size_t>(n - 1) * j];
    for (int q = 0; q < span; ++q) {
      for (int r = 0; r < n; ++r) in[r] = x[q + span * (j + m * r)];
      if constexpr (radix == 2) Butterflies::two(in, out);
      else if constexpr (radix == 3) Butterflies::three(in, out);
      else if constexpr (radix == 4) Butterflies::four(in, out);
      else if constexpr (radix == 5) Butterflies::five(in, out);
      else
        for (int k = 0; k < n; ++k) out[k] = Butterflies::many(in, 1, n, k, s.roots.data());
      Pair* to = y + q + span * n * j;
      to[0] = out[0];
      for (int k = 1; k < n; ++k) to[span * k] = Butterflies::times(out[k], w[2 * k - 2], w[2 * k - 1]);
    }
  }
}

// x is overwritten; the result is x or y.
Pair* run_stages(const std::vector<RealFourier::Stage>& stages, Pair* x, Pair* y, Pair* scratch) {
  for (const auto& s : stages) {
    switch (s.radix) {
      case 2: run_stage<2>(s, x, y, scratch); break;
      case 3: run_stage<3>(s, x, y, scratch); break;
      case 4: run_stage<4>(s, x, y, scratch); break;
      case 5: run_stage<5>(s, x, y, scratch); break;
      default: run_stage<0>(s, x, y, scratch);
    }
    Pair* const other = x;
    x = y, y = other;
  }
  return x;
}

inline void store(const Lanes& power, bool squared, float* out) {
  for (int i = 0; i < kFourierLanes; ++i) out[i] = squared ? power[i] : __builtin_sqrtf(power[i]);
}

// `in` holds pairs of an even length's elements, or an odd one's elements with zeros beside them.
void magnitudes(const std::vector<RealFourier::Stage>& stages, int length, int complex_length, const float* half_turns,
                float* in, float* buffer, float* scratch, float* out, bool squared) {
  const Pair* z = run_stages(stages, reinterpret_cast<Pair*>(in), reinterpret_cast<Pair*>(buffer),
                             reinterpret_cast<Pair*>(scratch));
  const int bins = length / 2 + 1, m = complex_length;
  if (m == length) {
    for (int k = 0; k < bins; ++k) store(z[k].re * z[k].re + z[k].im * z[k].im, squared, out + k * kFourierLanes);
    return;
  }
  for (int k = 0; k < bins; ++k)
    store(Butterflies::power(z[k == m ? 0 : k], z[k == 0 ? 0 : m - k], half_turns[2 * k], half_turns[2 * k + 1]), squared,
          out + k * kFourierLanes);
}
