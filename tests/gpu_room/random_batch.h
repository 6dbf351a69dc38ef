// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <random>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "batch/batch.h"

namespace penstock {

// Random elements; floating point within -300 to 300.
inline Batch random_batch(DType t, const std::vector<Shape>& shapes, const Layout& layout, unsigned seed) {
  Batch b(t, shapes[0].size(), layout, static_cast<int>(shapes.size()));
  for (size_t i = 0; i < shapes.size(); ++i) b.sample(static_cast<int>(i)).shape = shapes[i];
  b.allocate();
  std::mt19937_64 random(seed);
  for (int i = 0; i < b.size(); ++i)
    dispatch_stored(t, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const View v = b.view(i);
      for (int64_t k = 0; k < v.volume(); ++k) {
        const double r = std::uniform_real_distribution<double>(-300, 300)(random);
        if constexpr (std::is_same_v<T, bool>) v.as<T>()[k] = r > 0;
        else if constexpr (kStoresFloat<T>) v.as<T>()[k] = T(static_cast<float>(r));
        else if constexpr (std::is_floating_point_v<T>) v.as<T>()[k] = static_cast<T>(r);
        else v.as<T>()[k] = static_cast<T>(random());
      }
    });
  return b;
}

}  // namespace penstock
