// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of lines: a block takes some at a time through shared memory, long ones through its part of device
// memory. The butterflies are the CPU's, and so are the bits.
#pragma once
#include <cstdint>

#include "launch/entry.h"
#include "numerics/fourier_plan.h"
#include "numerics/mirrored.h"
#include "pixel/math.h"

namespace penstock::whole {

#include "numerics/butterflies.inc.h"

struct Pair {
  float re, im;
};
// As FourierLines of operator/signal_work.h.
struct TransformRow {
  const float* in;
  float* out;
  int64_t elements;  // of the whole input
  int64_t inner, begin, in_outer, in_inner, in_stride, out_outer, out_inner, out_stride, length;
  bool mirrored, squared, windowed;
  InData<float> window;
  InData<FourierPlan> plan;
  int64_t lines;  // at a time
  Pair* buffers;  // for a line of each block; null: in shared memory
};
static_assert(sizeof(TransformRow) == 136);

// The plan in registers, and what follows it in memory.
struct Transform {
  FourierPlan plan;
  const FourierStage* stages;
  const float* factors;

  PENSTOCK_HD explicit Transform(const FourierPlan* stored)
      : plan(*stored),
        stages(reinterpret_cast<const FourierStage*>(stored + 1)),
        factors(reinterpret_cast<const float*>(stages + plan.stages)) {}
};
// The lines that a block transforms at a time.
struct Lines {
  int64_t first;  // among all lines
  int count;
  int64_t size;  // from one buffer to the next
};

// One stage of all lines, from x to y.
template <int radix>
PENSTOCK_KERNEL void run_stage(const FourierStage& s, const float* factors, const Lines& lines, const Pair* x,
                               Pair* y) {
  const int n = radix ? radix : static_cast<int>(s.radix);
  const int64_t m = s.groups, span = s.span, work = m * span * (radix ? 1 : n), line = lines.size;
  const float *twiddles = factors + s.twiddles, *roots = factors + s.roots;
  for (int64_t item = thread(); item < lines.count * work; item += threads()) {
    const Pair* from = x + item / work * line;
    Pair* to = y + item / work * line;
    const int64_t rest = item % work, q = rest % span, j = rest / span % m;
    const float* w = twiddles + 2 * (n - 1) * j;
    from += q + span * j;
    to += q + span * n * j;
    if constexpr (radix == 0) {
      const int k = static_cast<int>(rest / span / m);
      const Pair r = Butterflies::many(from, span * m, n, k, roots);
      to[span * k] = k ? Butterflies::times(r, w[2 * k - 2], w[2 * k - 1]) : r;
    } else {
      Pair in[radix], out[radix];
      PENSTOCK_UNROLL
      for (int r = 0; r < radix; ++r) in[r] = from[span * m * r];
      if constexpr (radix == 2) Butterflies::two(in, out);
      else if constexpr (radix == 3) Butterflies::three(in, out);
      else if constexpr (radix == 4) Butterflies::four(in, out);
      else Butterflies::five(in, out);
      to[0] = out[0];
      PENSTOCK_UNROLL
      for (int k = 1; k < radix; ++k) to[span * k] = Butterflies::times(out[k], w[2 * k - 2], w[2 * k - 1]);
    }
  }
}

// Pairs of elements of an even length, or elements of an odd one, each with a zero.
PENSTOCK_KERNEL void load_lines(const Entry<TransformRow>& e, const Transform& t, const Lines& lines, Pair* x) {
  const TransformRow& row = e.row;
  const float* in = row.in;
  const float* window = row.windowed ? e.at(row.window) : nullptr;
  const int64_t n = row.elements, inner = row.inner, stride = row.in_stride, length = row.length;
  const int64_t elements = t.plan.length;
  const bool halves = t.plan.points != elements;
  for (int64_t item = thread(); item < lines.count * elements; item += threads()) {
    const int64_t k = item / elements, i = item % elements, l = lines.first + k;
    float v = 0;
    if (i < length) {
      int64_t at = row.begin + l / inner * row.in_outer + l % inner * row.in_inner + i * stride;
      const bool outside = at < 0 || at >= n;
      if (outside && row.mirrored) at = mirrored(at, n);
      if (!outside || row.mirrored) v = window ? in[at] * window[i] : in[at];
    }
    if (halves) {
      reinterpret_cast<float*>(x + k * lines.size)[i] = v;
    } else {
      x[k * lines.size + i].re = v;
      x[k * lines.size + i].im = 0;
    }
  }
}

PENSTOCK_KERNEL void store_magnitudes(const TransformRow& row, const Transform& t, const Lines& lines, const Pair* x) {
  const int64_t inner = row.inner, m = t.plan.points, bins = t.plan.length / 2 + 1;
  const bool halves = m != t.plan.length, neighbors = inner == 1 && row.out_outer == 1;
  const float* turns = t.factors + t.plan.half_turns;
  for (int64_t item = thread(); item < lines.count * bins; item += threads()) {
    const int64_t k = neighbors ? item % lines.count : item / bins, f = neighbors ? item / lines.count : item % bins;
    const int64_t l = lines.first + k;
    const Pair* z = x + k * lines.size;
    const Pair a = z[halves && f == m ? 0 : f], b = z[halves && f > 0 ? m - f : 0];
    const float power = halves ? Butterflies::power(a, b, turns[2 * f], turns[2 * f + 1]) : a.re * a.re + a.im * a.im;
    row.out[l / inner * row.out_outer + l % inner * row.out_inner + f * row.out_stride] =
        row.squared ? power : sqrt(power);
  }
}

// Units of work are lines.
PENSTOCK_KERNEL void transform_lines(const Entry<TransformRow>& e) {
  const Transform t(e.at(e.row.plan));
  const int64_t most = e.row.lines, line = t.plan.points + 1;
  Pair* buffers = e.row.buffers ? e.row.buffers + block() * 2 * most * line : shared_memory<Pair>();
  for (int64_t first = e.begin; first < e.end; first += most) {
    const Lines lines{first, static_cast<int>(e.end - first < most ? e.end - first : most), line};
    Pair *x = buffers, *y = x + most * line;
    load_lines(e, t, lines, x);
    wait_for_block();
    for (int64_t k = 0; k < t.plan.stages; ++k) {
      const FourierStage& s = t.stages[k];
      switch (s.radix) {
        case 2: run_stage<2>(s, t.factors, lines, x, y); break;
        case 3: run_stage<3>(s, t.factors, lines, x, y); break;
        case 4: run_stage<4>(s, t.factors, lines, x, y); break;
        case 5: run_stage<5>(s, t.factors, lines, x, y); break;
        default: run_stage<0>(s, t.factors, lines, x, y);
      }
      wait_for_block();
      Pair* other = x;
      x = y;
      y = other;
    }
    store_magnitudes(e.row, t, lines, x);
    wait_for_block();
  }
}

}  // namespace penstock::whole
