// SPDX-License-Identifier: Apache-2.0
// The Fourier transform of one real line by the threads of a team, with its complex spectrum. The butterflies and their
// order are those of fourier.inc.h, and so are the bits of the numbers before magnitudes.
#pragma once
#include <cstdint>

#include "numerics/fourier_plan.h"
#include "pixel/host_device.h"

namespace penstock::fourier {

#include "numerics/butterflies.inc.h"

struct Pair {
  float re, im;
};

// A transform that RealFourier::packed() has stored.
struct Transform {
  FourierPlan plan;
  const FourierStage* stages;
  const float* factors;

  PENSTOCK_HD explicit Transform(const char* stored)
      : plan(*reinterpret_cast<const FourierPlan*>(stored)),
        stages(reinterpret_cast<const FourierStage*>(stored + sizeof(FourierPlan))),
        factors(reinterpret_cast<const float*>(stages + plan.stages)) {}
  PENSTOCK_HD bool halves() const { return plan.points != plan.length; }

  // Element i of the line, before run(): pairs of elements of an even length, else elements with a zero each.
  PENSTOCK_HD void put(Pair* x, int64_t i, float v) const {
    if (halves()) reinterpret_cast<float*>(x)[i] = v;
    else x[i] = {v, 0.0f};
  }
  // Frequency f, at most length / 2, of what run() returned.
  PENSTOCK_HD Pair bin(const Pair* z, int64_t f) const {
    if (!halves()) return z[f];
    const int64_t m = plan.points;
    const float* const turn = factors + plan.half_turns + 2 * f;
    return Butterflies::bin(z[f == m ? 0 : f], z[f > 0 ? m - f : 0], turn[0], turn[1]);
  }
};

template <int radix, class Team>
PENSTOCK_HD void stage(const FourierStage& s, const float* factors, const Pair* x, Pair* y, const Team& team) {
  const int n = radix ? radix : static_cast<int>(s.radix);
  const int64_t m = s.groups, span = s.span;
  const float *twiddles = factors + s.twiddles, *roots = factors + s.roots;
  for (int64_t item = team.index; item < m * span; item += team.count) {
    const int64_t q = item % span, j = item / span;
    const float* w = twiddles + 2 * (n - 1) * j;
    const Pair* from = x + q + span * j;
    Pair* to = y + q + span * n * j;
    if constexpr (radix == 0) {
      for (int k = 0; k < n; ++k) {
        const Pair r = Butterflies::many(from, span * m, n, k, roots);
        to[span * k] = k ? Butterflies::times(r, w[2 * k - 2], w[2 * k - 1]) : r;
      }
    } else {
      Pair in[radix];
      Pair out[radix];
      for (int r = 0; r < radix; ++r) in[r] = from[span * m * r];
      if constexpr (radix == 2) Butterflies::two(in, out);
      else if constexpr (radix == 3) Butterflies::three(in, out);
      else if constexpr (radix == 4) Butterflies::four(in, out);
      else Butterflies::five(in, out);
      to[0] = out[0];
      for (int k = 1; k < radix; ++k) to[span * k] = Butterflies::times(out[k], w[2 * k - 2], w[2 * k - 1]);
    }
  }
}

// From x, with room for as many numbers in y; returns which of them has the result.
template <class Team> PENSTOCK_HD Pair* run(const Transform& t, Pair* x, Pair* y, const Team& team) {
  team.sync();
  for (int64_t k = 0; k < t.plan.stages; ++k) {
    const FourierStage& s = t.stages[k];
    switch (s.radix) {
      case 2: stage<2>(s, t.factors, x, y, team); break;
      case 3: stage<3>(s, t.factors, x, y, team); break;
      case 4: stage<4>(s, t.factors, x, y, team); break;
      case 5: stage<5>(s, t.factors, x, y, team); break;
      default: stage<0>(s, t.factors, x, y, team);
    }
    team.sync();
    Pair* const other = x;
    x = y;
    y = other;
  }
  return x;
}

}  // namespace penstock::fourier
