// SPDX-License-Identifier: Apache-2.0
// The slow twin of the family's kernels: a loop over the window for each element. It says what they compute, and runs
// where the kernel of a GPU has too little memory for a window.
#pragma once
#include "operator/image_work.h"

namespace penstock::window {

template <class Rule> struct FoldTwin : ImageRule {
  static constexpr const char* base_text = Rule::pixel_text;
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        int64_t width, height, x, y;
        int border;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        In folded = in[offset_of(c.out, p.outer, 0, p.y, p.x, p.inner)];
        bool first = true;
        for (int64_t j = 0; j < c.height; ++j) {
          const int64_t y = bordered(p.y + j - c.y, c.out.height, c.border);
          if (y < 0) continue;
          const In* row = in + offset_of(c.out, p.outer, 0, y, 0, p.inner);
          for (int64_t i = 0; i < c.width; ++i) {
            const int64_t x = bordered(p.x + i - c.x, c.out.width, c.border);
            if (x < 0) continue;
            const In v = row[x * c.out.inner];
            folded = first ? v : Rule::combine(folded, v);
            first = false;
          }
        }
        return static_cast<Out>(folded);
      });
};

}  // namespace penstock::window
