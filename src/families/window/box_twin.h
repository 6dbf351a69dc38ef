// SPDX-License-Identifier: Apache-2.0
// The slow twin of means: a loop over the window for each element. It says what they are, and runs on a GPU where a
// block has too little memory for a window.
#pragma once
#include "operator/image_work.h"

namespace penstock::window {

struct BoxTwin : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        int64_t width, height, x, y;
        float factor;
        int border;
      };
      // The sum of at(0), ..., at(n - 1): see kernels/box.h.
      template <class F> PENSTOCK_HD static float total(int64_t n, const F& at) {
        float sum = 0;
        int64_t end = n;
        for (int64_t size = 1; size <= n; size *= 2) {
          if (!(n & size)) continue;
          const bool first = end == n;
          end -= size;
          float part[24];
          int depth = 0;
          for (int64_t i = 0; i < size; ++i) {
            float v = at(end + i);
            depth = 0;
            for (int64_t k = i; k & 1; k /= 2) v = part[depth++] + v;
            part[depth] = v;
          }
          sum = first ? part[depth] : part[depth] + sum;
        }
        return sum;
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const auto seen = [&](int64_t j, int64_t i) {
          const int64_t y = bordered(p.y + j - c.y, c.out.height, c.border);
          const int64_t x = bordered(p.x + i - c.x, c.out.width, c.border);
          return y < 0 || x < 0 ? static_cast<In>(0.0f) : in[offset_of(c.out, p.outer, 0, y, x, p.inner)];
        };
        if constexpr (std::is_integral_v<In>) {
          const int64_t n = c.width * c.height;
          int64_t sum = 0;
          for (int64_t j = 0; j < c.height; ++j)
            for (int64_t i = 0; i < c.width; ++i) sum += static_cast<int64_t>(seen(j, i));
          sum += n / 2;
          const int64_t q = sum / n - (sum % n < 0);
          return static_cast<Out>(q - (n % 2 == 0 && q * n == sum && q % 2 != 0));
        } else {
          const float sum = total(c.height, [&](int64_t j) {
            return total(c.width, [&](int64_t i) { return static_cast<float>(seen(j, i)); });
          });
          return stored<Out>(sum * c.factor);
        }
      });
};

}  // namespace penstock::window
