// SPDX-License-Identifier: Apache-2.0
// Included once for each processor target by fourier.cpp.

typedef float Lanes __attribute__((vector_size(4 * kFourierLanes), aligned(4)));

struct Pair {
  Lanes re, im;
};

inline Pair plus(const Pair& a, const Pair& b) { return {a.re + b.re, a.im + b.im}; }
inline Pair minus(const Pair& a, const Pair& b) { return {a.re - b.re, a.im - b.im}; }
inline Pair times(const Pair& a, float re, float im) { return {a.re * re - a.im * im, a.re * im + a.im * re}; }
inline Pair turned(const Pair& a) { return {a.im, -a.re}; }  // by -i

inline void butterfly2(const Pair* x, Pair* y) { y[0] = plus(x[0], x[1]), y[1] = minus(x[0], x[1]); }

inline void butterfly3(const Pair* x, Pair* y) {
  const Pair sum = plus(x[1], x[2]), difference = minus(x[1], x[2]);
  const Pair middle{x[0].re - 0.5f * sum.re, x[0].im - 0.5f * sum.im};
  const Pair side = times(turned(difference), 0.866025404f, 0);
  y[0] = plus(x[0], sum), y[1] = plus(middle, side), y[2] = minus(middle, side);
}

inline void butterfly4(const Pair* x, Pair* y) {
  const Pair a = plus(x[0], x[2]), b = minus(x[0], x[2]), c = plus(x[1], x[3]), d = turned(minus(x[1], x[3]));
  y[0] = plus(a, c), y[1] = plus(b, d), y[2] = minus(a, c), y[3] = minus(b, d);
}

inline void butterfly5(const Pair* x, Pair* y) {
  constexpr float c1 = 0.309016994f, c2 = -0.809016994f, s1 = 0.951056516f, s2 = 0.587785252f;
  const Pair a = plus(x[1], x[4]), b = plus(x[2], x[3]), c = minus(x[1], x[4]), d = minus(x[2], x[3]);
  const Pair p{x[0].re + c1 * a.re + c2 * b.re, x[0].im + c1 * a.im + c2 * b.im};
  const Pair q{x[0].re + c2 * a.re + c1 * b.re, x[0].im + c2 * a.im + c1 * b.im};
  const Pair u = turned({s1 * c.re + s2 * d.re, s1 * c.im + s2 * d.im});
  const Pair v = turned({s2 * c.re - s1 * d.re, s2 * c.im - s1 * d.im});
  y[0] = {x[0].re + a.re + b.re, x[0].im + a.im + b.im};
  y[1] = plus(p, u), y[2] = plus(q, v), y[3] = minus(q, v), y[4] = minus(p, u);
}

inline void butterfly(const RealFourier::Stage& s, const Pair* x, Pair* y) {
  for (int k = 0; k < s.radix; ++k) {
    Pair sum = x[0];
    for (int r = 1; r < s.radix; ++r) {
      const float* root = &s.roots[2 * (static_cast<int64_t>(r) * k % s.radix)];
      sum = plus(sum, times(x[r], root[0], root[1]));
    }
    y[k] = sum;
  }
}

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
      if constexpr (radix == 2) butterfly2(in, out);
      else if constexpr (radix == 3) butterfly3(in, out);
      else if constexpr (radix == 4) butterfly4(in, out);
      else if constexpr (radix == 5) butterfly5(in, out);
      else butterfly(s, in, out);
      Pair* to = y + q + span * n * j;
      to[0] = out[0];
      for (int k = 1; k < n; ++k) to[span * k] = times(out[k], w[2 * k - 2], w[2 * k - 1]);
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

inline void store(const Lanes& re, const Lanes& im, bool squared, float* out) {
  const Lanes power = re * re + im * im;
  for (int i = 0; i < kFourierLanes; ++i) out[i] = squared ? power[i] : __builtin_sqrtf(power[i]);
}

// `in` holds pairs of an even length's elements, or an odd one's elements with zeros beside them.
void magnitudes(const std::vector<RealFourier::Stage>& stages, int length, int complex_length, const float* half_turns,
                float* in, float* buffer, float* scratch, float* out, bool squared) {
  const Pair* z = run_stages(stages, reinterpret_cast<Pair*>(in), reinterpret_cast<Pair*>(buffer),
                             reinterpret_cast<Pair*>(scratch));
  const int bins = length / 2 + 1, m = complex_length;
  if (m == length) {
    for (int k = 0; k < bins; ++k) store(z[k].re, z[k].im, squared, out + k * kFourierLanes);
    return;
  }
  for (int k = 0; k < bins; ++k) {
    const Pair a = z[k == m ? 0 : k], b = z[k == 0 ? 0 : m - k];
    const Lanes even_re = 0.5f * (a.re + b.re), even_im = 0.5f * (a.im - b.im);
    const Lanes odd_re = 0.5f * (a.im + b.im), odd_im = 0.5f * (b.re - a.re);
    const Pair turn = times({odd_re, odd_im}, half_turns[2 * k], half_turns[2 * k + 1]);
    store(even_re + turn.re, even_im + turn.im, squared, out + k * kFourierLanes);
  }
}
