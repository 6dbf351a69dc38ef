// SPDX-License-Identifier: Apache-2.0
// Included once for each processor target by fourier.cpp.

// A vector is as wide as a register: GCC keeps wider ones in memory, element by element.
constexpr int kNative = PENSTOCK_TARGET_FLOATS ? PENSTOCK_TARGET_FLOATS : 4;
constexpr int kParts = kFourierLanes / kNative;
typedef float Native __attribute__((vector_size(4 * kNative), aligned(4)));

// One element of all lanes in memory, and of some of them in registers.
struct Element {
  Native re[kParts], im[kParts];
};
struct Pair {
  Native re, im;
};
PENSTOCK_INLINE Pair part_of(const Element& e, int part) { return {e.re[part], e.im[part]}; }
PENSTOCK_INLINE void set_part(Element& e, int part, const Pair& v) { e.re[part] = v.re, e.im[part] = v.im; }

#include "numerics/butterflies.inc.h"

template <int radix> PENSTOCK_INLINE void butterfly(const Pair* in, Pair* out) {
  if constexpr (radix == 2) Butterflies::two(in, out);
  else if constexpr (radix == 3) Butterflies::three(in, out);
  else if constexpr (radix == 4) Butterflies::four(in, out);
  else Butterflies::five(in, out);
}

template <int radix>
void run_stage(const RealFourier::Stage& s, const Element* x, Element* y, Pair* scratch) {
  const int n = radix ? radix : s.radix, m = s.groups, span = s.span;
  Pair fixed[2 * (radix ? radix : 1)];
  Pair* const in = radix ? fixed : scratch;
  Pair* const out = in + n;
  for (int j = 0; j < m; ++j) {
    const float* w = &s.twiddles[2 * static_cast<size_t>(n - 1) * j];
    for (int q = 0; q < span; ++q)
      for (int p = 0; p < kParts; ++p) {
        for (int r = 0; r < n; ++r) in[r] = part_of(x[q + span * (j + m * r)], p);
        if constexpr (radix != 0) butterfly<radix>(in, out);
        else
          for (int k = 0; k < n; ++k) out[k] = Butterflies::many(in, 1, n, k, s.roots.data());
        Element* to = y + q + span * n * j;
        set_part(to[0], p, out[0]);
        for (int k = 1; k < n; ++k) set_part(to[span * k], p, Butterflies::times(out[k], w[2 * k - 2], w[2 * k - 1]));
      }
  }
}

// Two stages in turn; each element is loaded and stored once.
template <int first, int second>
void run_two_stages(const RealFourier::Stage& s, const RealFourier::Stage& t, const Element* x, Element* y) {
  const int m = t.groups, span = s.span;
  for (int j = 0; j < m; ++j) {
    const float* w = &t.twiddles[2 * static_cast<size_t>(second - 1) * j];
    for (int q = 0; q < span; ++q)
      for (int p = 0; p < kParts; ++p) {
        Pair between[second][first], in[first > second ? first : second], out[first > second ? first : second];
        #pragma GCC unroll 16
        for (int r = 0; r < second; ++r) {
          const int group = j + m * r;
          const float* v = &s.twiddles[2 * static_cast<size_t>(first - 1) * group];
          #pragma GCC unroll 16
          for (int k = 0; k < first; ++k) in[k] = part_of(x[q + span * (group + s.groups * k)], p);
          butterfly<first>(in, out);
          between[r][0] = out[0];
          #pragma GCC unroll 16
          for (int k = 1; k < first; ++k) between[r][k] = Butterflies::times(out[k], v[2 * k - 2], v[2 * k - 1]);
        }
        #pragma GCC unroll 16
        for (int k = 0; k < first; ++k) {
          #pragma GCC unroll 16
          for (int r = 0; r < second; ++r) in[r] = between[r][k];
          butterfly<second>(in, out);
          Element* to = y + q + span * k + span * first * second * j;
          set_part(to[0], p, out[0]);
          #pragma GCC unroll 16
          for (int r = 1; r < second; ++r)
            set_part(to[span * first * r], p, Butterflies::times(out[r], w[2 * r - 2], w[2 * r - 1]));
        }
      }
  }
}

// x is overwritten; the result is x or y.
Element* run_stages(const std::vector<RealFourier::Stage>& stages, Element* x, Element* y, Pair* scratch) {
  for (size_t i = 0; i < stages.size(); ++i) {
    const auto& s = stages[i];
    const int next = i + 1 < stages.size() ? stages[i + 1].radix : 0;
    if (s.radix == 4 && (next == 4 || next == 2)) {
      if (next == 4) run_two_stages<4, 4>(s, stages[++i], x, y);
      else run_two_stages<4, 2>(s, stages[++i], x, y);
      std::swap(x, y);
      continue;
    }
    switch (s.radix) {
      case 2: run_stage<2>(s, x, y, scratch); break;
      case 3: run_stage<3>(s, x, y, scratch); break;
      case 4: run_stage<4>(s, x, y, scratch); break;
      case 5: run_stage<5>(s, x, y, scratch); break;
      default: run_stage<0>(s, x, y, scratch);
    }
    std::swap(x, y);
  }
  return x;
}

// Squares of elements k and m - k at once, in rows of lanes (`width` columns from the first one).
template <bool squared> PENSTOCK_INLINE void store(const Native& power, int part, int width, float* out) {
  Native v = power;
  if constexpr (!squared)
    for (int i = 0; i < kNative; ++i) v[i] = __builtin_sqrtf(power[i]);
  const int first = part * kNative;
  if (width >= first + kNative) *reinterpret_cast<Native*>(out + first) = v;
  else
    for (int i = 0; i < width - first; ++i) out[first + i] = v[i];
}
template <bool squared>
void store_all(const Element* z, int length, int m, const float* half_turns, int width, float* out, int64_t row) {
  for (int p = 0; p < kParts; ++p) {
    if (m == length) {
      for (int k = 0; k < length / 2 + 1; ++k) {
        const Pair a = part_of(z[k], p);
        store<squared>(a.re * a.re + a.im * a.im, p, width, out + k * row);
      }
      continue;
    }
    for (int k = 0; k <= m / 2; ++k) {
      const Pair a = part_of(z[k], p), b = part_of(z[k == 0 ? 0 : m - k], p);
      store<squared>(Butterflies::power(a, b, half_turns[2 * k], half_turns[2 * k + 1]), p, width, out + k * row);
      if (m - k != k)
        store<squared>(Butterflies::power(b, a, half_turns[2 * (m - k)], half_turns[2 * (m - k) + 1]), p, width,
                       out + (m - k) * row);
    }
  }
}

// Transposes: swaps blocks of s x s elements next to the diagonal, for s = 1, 2, 4 ...
template <int s, int... k> PENSTOCK_INLINE void swap_blocks(Native* rows, std::integer_sequence<int, k...>) {
  for (int i = 0; i < kNative; ++i) {
    if (i & s) continue;
    const Native a = rows[i], b = rows[i + s];
    rows[i] = __builtin_shufflevector(a, b, ((k & s) ? kNative + k - s : k)...);
    rows[i + s] = __builtin_shufflevector(a, b, ((k & s) ? kNative + k : k + s)...);
  }
}
PENSTOCK_INLINE void transpose(Native* rows) {
  constexpr std::make_integer_sequence<int, kNative> all;
  swap_blocks<1>(rows, all), swap_blocks<2>(rows, all);
  if constexpr (kNative > 4) swap_blocks<4>(rows, all);
  if constexpr (kNative > 8) swap_blocks<8>(rows, all);
}

// Element i of line k, times the window's, to x[i * step + k].
void load(const FourierInput& in, int step, float* x) {
  int64_t i = 0;
  bool neighbors = true;
  for (int k = 1; k < kFourierLanes; ++k) neighbors = neighbors && in.lines[k] == in.lines[0] + k;
  if (neighbors) {
    for (; i < in.count; ++i)
      for (int l = 0; l < kFourierLanes; l += kNative) {
        const Native row = *reinterpret_cast<const Native*>(in.lines[0] + i * in.stride + l);
        *reinterpret_cast<Native*>(x + i * step + l) = in.window ? row * in.window[i] : row;
      }
    return;
  }
  if (in.stride != 1) {
    for (; i < in.count; ++i)
      for (int k = 0; k < kFourierLanes; ++k)
        x[i * step + k] = in.window ? in.lines[k][i * in.stride] * in.window[i] : in.lines[k][i * in.stride];
    return;
  }
  for (; i + kNative <= in.count; i += kNative)
    for (int l = 0; l < kFourierLanes; l += kNative) {
      Native rows[kNative];
      #pragma GCC unroll 16
      for (int k = 0; k < kNative; ++k) {
        rows[k] = *reinterpret_cast<const Native*>(in.lines[l + k] + i);
        if (in.window) rows[k] *= *reinterpret_cast<const Native*>(in.window + i);
      }
      transpose(rows);
      #pragma GCC unroll 16
      for (int k = 0; k < kNative; ++k) *reinterpret_cast<Native*>(x + (i + k) * step + l) = rows[k];
    }
  for (; i < in.count; ++i)
    for (int k = 0; k < kFourierLanes; ++k)
      x[i * step + k] = in.window ? in.lines[k][i] * in.window[i] : in.lines[k][i];
}

// Rows of lanes to contiguous lines.
void store_lines(const float* rows, int bins, const FourierOutput& to) {
  int f = 0;
  for (; to.frequency == 1 && to.count == kFourierLanes && f + kNative <= bins; f += kNative)
    for (int l = 0; l < kFourierLanes; l += kNative) {
      Native block[kNative];
#pragma GCC unroll 16
      for (int k = 0; k < kNative; ++k) block[k] = *reinterpret_cast<const Native*>(rows + (f + k) * kFourierLanes + l);
      transpose(block);
#pragma GCC unroll 16
      for (int k = 0; k < kNative; ++k) *reinterpret_cast<Native*>(to.lines[l + k] + f) = block[k];
    }
  for (; f < bins; ++f)
    for (int k = 0; k < to.count; ++k) to.lines[k][f * to.frequency] = rows[f * kFourierLanes + k];
}

void magnitudes(const std::vector<RealFourier::Stage>& stages, int length, int complex_length, const float* half_turns,
                const FourierInput& in, float* buffers, float* scratch, const FourierOutput& to) {
  const bool halves =
      complex_length != length;  // pairs of elements of an even length, or elements of an odd one, each with a zero
  const int step = kFourierLanes * (halves ? 1 : 2), bins = length / 2 + 1;
  const int64_t pairs = complex_length;
  load(in, step, buffers);
  std::fill(buffers + in.count * step, buffers + pairs * 2 * kFourierLanes, 0.0f);
  if (!halves)
    for (int64_t i = 0; i < in.count; ++i) std::fill_n(buffers + i * step + kFourierLanes, kFourierLanes, 0.0f);
  auto* x = reinterpret_cast<Element*>(buffers);
  const Element* z = run_stages(stages, x, x + pairs, reinterpret_cast<Pair*>(scratch));
  const auto all = to.squared ? store_all<true> : store_all<false>;
  bool neighbors = true;
  for (int k = 1; k < to.count; ++k) neighbors = neighbors && to.lines[k] == to.lines[0] + k;
  if (neighbors) return all(z, length, complex_length, half_turns, to.count, to.lines[0], to.frequency);
  float* rows = buffers + 4 * kFourierLanes * pairs;
  all(z, length, complex_length, half_turns, kFourierLanes, rows, kFourierLanes);
  store_lines(rows, bins, to);
}
