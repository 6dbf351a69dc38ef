// SPDX-License-Identifier: Apache-2.0
// The slow twin of the medians: what they compute, for one element. It runs where there is no other form.
#pragma once
#include "operator/image_work.h"

namespace penstock::window {

// Numbers in the order of their values as unsigned ones. Their bits are found from the highest down: any window, any
// type, no memory.
struct MedianTwin : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        int64_t width, height;
      };
      template <class T> PENSTOCK_HD static uint64_t key_of(T v) {
        constexpr uint64_t sign = uint64_t{1} << (sizeof(T) * 8 - 1);
        if constexpr (std::is_integral_v<T>) {
          if constexpr (!std::is_signed_v<T>) return v;
          else return (static_cast<uint64_t>(v) ^ sign) & (sign | (sign - 1));
        } else {
          uint64_t bits = 0;
          if constexpr (sizeof(T) == 8) bits = std::bit_cast<uint64_t>(v);
          else if constexpr (sizeof(T) == 4) bits = std::bit_cast<uint32_t>(v);
          else bits = v.bits;
          return (bits & sign) ? ~bits & (sign | (sign - 1)) : bits | sign;
        }
      } template <class T> PENSTOCK_HD static T value_of(uint64_t key) {
        constexpr uint64_t sign = uint64_t{1} << (sizeof(T) * 8 - 1);
        if constexpr (std::is_integral_v<T>) {
          if constexpr (!std::is_signed_v<T>) return static_cast<T>(key);
          else return static_cast<T>(key ^ sign);
        } else {
          const uint64_t bits = (key & sign) ? key ^ sign : ~key & (sign | (sign - 1));
          if constexpr (sizeof(T) == 8) {
            return std::bit_cast<T>(bits);
          } else if constexpr (sizeof(T) == 4) {
            return std::bit_cast<T>(static_cast<uint32_t>(bits));
          } else {
            T half;
            half.bits = static_cast<uint16_t>(bits);
            return half;
          }
        }
      } template <class K> PENSTOCK_HD static void sort(K& a, K& b) {
        const K low = min(a, b);
        b = max(a, b);
        a = low;
      }
      // The 3 x 3 median is that of N. Devillard, "Fast median search: an ANSI C implementation", 1998.
      template <class K> PENSTOCK_HD static K middle_of_nine(K* k) {
        sort(k[1], k[2]), sort(k[4], k[5]), sort(k[7], k[8]), sort(k[0], k[1]), sort(k[3], k[4]), sort(k[6], k[7]);
        sort(k[1], k[2]), sort(k[4], k[5]), sort(k[7], k[8]), sort(k[0], k[3]), sort(k[5], k[8]), sort(k[4], k[7]);
        sort(k[3], k[6]), sort(k[1], k[4]), sort(k[2], k[5]), sort(k[4], k[7]), sort(k[4], k[2]), sort(k[6], k[4]);
        sort(k[4], k[2]);
        return k[4];
      } template <class K, class In> PENSTOCK_HD static uint64_t nine(const In* in, const Place& p, const Coef& c) {
        K k[9];
        const int64_t left = (p.x > 0 ? p.x - 1 : 0) * c.out.inner;
        const int64_t right = (p.x + 1 < c.out.width ? p.x + 1 : p.x) * c.out.inner;
        for (int j = 0; j < 3; ++j) {
          const int64_t y = clamp<int64_t>(p.y + j - 1, 0, c.out.height - 1);
          const In* row = in + offset_of(c.out, p.outer, 0, y, 0, p.inner);
          k[3 * j] = static_cast<K>(key_of(row[left]));
          k[3 * j + 1] = static_cast<K>(key_of(row[p.x * c.out.inner]));
          k[3 * j + 2] = static_cast<K>(key_of(row[right]));
        }
        return middle_of_nine(k);
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        if (c.width == 3 && c.height == 3) {
          if constexpr (sizeof(In) <= 4) return static_cast<Out>(value_of<In>(nine<uint32_t>(in, p, c)));
          else return static_cast<Out>(value_of<In>(nine<uint64_t>(in, p, c)));
        }
        const int64_t half = c.width * c.height / 2;
        const bool inside = p.x >= c.width / 2 && p.x + c.width / 2 < c.out.width;
        uint64_t found = 0;
        for (uint64_t bit = uint64_t{1} << (std::is_same_v<In, bool> ? 0 : sizeof(In) * 8 - 1); bit > 0; bit >>= 1) {
          const uint64_t limit = found | bit;
          int64_t below = 0;
          for (int64_t j = 0; j < c.height; ++j) {
            const int64_t y = clamp<int64_t>(p.y + j - c.height / 2, 0, c.out.height - 1);
            const In* row = in + offset_of(c.out, p.outer, 0, y, 0, p.inner);
            if (inside) {
              const In* from = row + (p.x - c.width / 2) * c.out.inner;
              for (int64_t i = 0; i < c.width; ++i) below += key_of(from[i * c.out.inner]) < limit;
              continue;
            }
            for (int64_t i = 0; i < c.width; ++i) {
              const int64_t x = clamp<int64_t>(p.x + i - c.width / 2, 0, c.out.width - 1);
              below += key_of(row[x * c.out.inner]) < limit;
            }
          }
          if (below <= half) found = limit;
        }
        return static_cast<Out>(value_of<In>(found));
      });
};

}  // namespace penstock::window
