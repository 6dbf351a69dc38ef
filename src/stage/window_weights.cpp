// SPDX-License-Identifier: Apache-2.0
#include "stage/window_weights.h"

#include <cmath>
#include <cstring>

namespace penstock {

void join_windows(AxisWindows& windows) {
  if (windows.same) return;
  const int size = windows.sizes.empty() ? 0 : windows.sizes[0];
  const float* first = windows.weights.data();
  for (int k = 1; k < windows.sizes.size(); ++k)
    if (windows.sizes[k] != size || std::memcmp(first, first + k * size, size * sizeof(float)) != 0) return;
  windows.weights.resize(static_cast<size_t>(size));
}

bool are_plain(const AxisWindows& windows) {
  std::span<const float> left = windows.weights;
  for (int size : windows.sizes) {
    if (left.empty()) break;
    if (!are_plain(left.first(static_cast<size_t>(size)), size)) return false;
    left = left.subspan(static_cast<size_t>(size));
  }
  return true;
}

namespace {
// `kSize` 0: windows of `size`, else of that size, which the compiler knows.
template <int kSize> bool are_plain_windows(std::span<const float> weights, int size) {
  if (kSize > 0) size = kSize;
  bool plain = true;
  for (const float *w = weights.data(), *end = w + weights.size(); w != end; w += size) {
    double sum = 0;
    float least = w[0];
    for (int i = 0; i < size; ++i) sum += w[i], least = w[i] < least ? w[i] : least;
    plain &= (least >= 0x1p-60f) & (std::fabs(sum - 1) < 1e-4);  // a sum with a NaN is one
  }
  return plain;
}
}  // namespace

bool are_plain(std::span<const float> weights, int size) {
  switch (size) {
    case 3: return are_plain_windows<3>(weights, size);
    case 5: return are_plain_windows<5>(weights, size);
    case 7: return are_plain_windows<7>(weights, size);
    default: return are_plain_windows<0>(weights, size);
  }
}

}  // namespace penstock
