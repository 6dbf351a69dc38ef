// SPDX-License-Identifier: Apache-2.0
// Integers as fractions of their range, and places that fall between samples.
#pragma once
#include <limits>

#include "operator/stored.h"
#include "pixel/host_device.h"

namespace penstock {

struct SampleRange {
  PENSTOCK_TEXT(
      base_text,
      // Integers as fractions of their range: -1 to 1.
      template <class T> PENSTOCK_HD static float from_range(T v) {
        if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>) return static_cast<float>(v);
        else {
          using N = NumberOf<T>;
          constexpr N most = static_cast<N>(std::numeric_limits<T>::max());
          if constexpr (std::is_signed_v<T>) return static_cast<float>(static_cast<N>(v) / most);
          else return static_cast<float>((2 * static_cast<N>(v) - most) / most);
        }
      } template <class T>
      PENSTOCK_HD static T to_range(float v) {
        if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>) return stored<T>(v);
        else {
          using N = NumberOf<T>;
          constexpr N most = static_cast<N>(std::numeric_limits<T>::max());
          if constexpr (std::is_signed_v<T>) return stored<T>(static_cast<N>(v) * most);
          else return stored<T>((static_cast<N>(v) + 1) * (most / 2));
        }
      }
      // The upper 64 bits of a product.
      PENSTOCK_HD static uint64_t upper_half(uint64_t a, uint64_t b) {
        const uint64_t a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
        const uint64_t low = a1 * b0 + (a0 * b0 >> 32), high = a0 * b1 + (low & 0xFFFFFFFFu);
        return a1 * b1 + (low >> 32) + (high >> 32);
      });
};

}  // namespace penstock
