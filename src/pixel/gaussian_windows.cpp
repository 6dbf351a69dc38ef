// SPDX-License-Identifier: Apache-2.0
#include "pixel/gaussian_windows.h"

#include <algorithm>
#include <vector>

#include "base/target.h"
#include "pixel/transcendental.h"

namespace penstock {

static float deviation_of(int size) { return static_cast<float>(((size - 1) / 2 - 1) * 0.3 + 0.8); }

#define PENSTOCK_LOOPS windows
#define PENSTOCK_LOOPS_TEXT "pixel/gaussian_windows.inc.h"
#include "base/foreach_target.h"

template <int kColumns> static void windows_of(const float* sigmas, int size, double* half, float* to) {
  const Target t = best_target();
  PENSTOCK_FOR_TARGET(t, windows, windows_of<kColumns>(sigmas, size, half, to));
}

void gaussian_windows(std::span<const float> sigmas, int size, float* to) {
  constexpr int kTogether = 16, kSmall = 33;  // larger windows are worth loops of their own
  double few[(kSmall / 2 + 1) * kTogether];
  std::vector<double> many(size > kSmall ? static_cast<size_t>(size / 2) + 1 : 0);
  double* const half = size > kSmall ? many.data() : few;
  size_t i = 0;
  if (size <= kSmall)
    for (; i + kTogether <= sigmas.size(); i += kTogether)
      windows_of<kTogether>(&sigmas[i], size, half, to + i * static_cast<size_t>(size));
  for (; i < sigmas.size(); ++i) windows_of<1>(&sigmas[i], size, half, to + i * static_cast<size_t>(size));
}

}  // namespace penstock
