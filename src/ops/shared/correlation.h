// SPDX-License-Identifier: Apache-2.0
// Weighted sums of neighbors: correlate, laplacian and sobel.
#pragma once
#include "operator/image_work.h"

namespace penstock {

// The first axis that is convolved, and their number: all axes except leading frames and channels first or last;
// without a layout all.
std::pair<int, int> convolved_axes(const Layout& layout, int ndim);
// The axes of a shape as depth, height and width, starting from the last one.
ImageRule::Extents convolved_extents(const Shape& shape, int first, int axes);

struct CorrelationRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out, in;
        int64_t window[3], anchor[3];  // z, y, x; element (0, 0, 0) meets in[place - anchor]
        const float* weights;          // none: the weights of the table
        const void* fill;              // one element of the input's type; none: 0
        int border;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char* table) {
        const float* weights = c.weights ? c.weights : reinterpret_cast<const float*>(table);
        const int64_t z0 = p.z - c.anchor[0];
        const int64_t y0 = p.y - c.anchor[1];
        const int64_t x0 = p.x - c.anchor[2];
        const bool inside = x0 >= 0 && x0 + c.window[2] <= c.in.width;
        NumberOf<In> sum = 0;
        for (int64_t k = 0; k < c.window[0]; ++k) {
          const int64_t z = bordered(z0 + k, c.in.depth, c.border);
          for (int64_t j = 0; j < c.window[1]; ++j) {
            const int64_t y = bordered(y0 + j, c.in.height, c.border);
            const bool row = z >= 0 && y >= 0;
            const In* from = in + offset_of(c.in, p.outer, row ? z : 0, row ? y : 0, 0, p.inner);
            if (row && inside) {
              from += x0 * c.in.inner;
              for (int64_t i = 0; i < c.window[2]; ++i)
                sum += *weights++ * static_cast<NumberOf<In>>(from[i * c.in.inner]);
              continue;
            }
            for (int64_t i = 0; i < c.window[2]; ++i) {
              const int64_t x = bordered(x0 + i, c.in.width, c.border);
              const auto v = static_cast<NumberOf<In>>(row && x >= 0 ? from[x * c.in.inner]
                                                       : c.fill      ? *static_cast<const In*>(c.fill)
                                                                     : static_cast<In>(0.0f));
              sum += *weights++ * v;
            }
          }
        }
        return stored<Out>(sum);
      });
};

// Whether a GPU makes these sums, of types that float32 holds, in tiles: only then may a step after read them.
bool has_tiles(const CorrelationRule::Coef& coef, DType out);
// The result is of the input's type or float32, of bytes also int16. `own`: gives the same sums on the host.
void correlate(const View& in, const View& out, const CorrelationRule::Coef& coef, SampleWork& to,
               const ImageTable& table = nullptr, const std::function<void()>& own = nullptr);

}  // namespace penstock
