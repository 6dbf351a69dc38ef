// SPDX-License-Identifier: Apache-2.0
// Fields of displacements that an operator computes for each pixel, before pixels are sampled by them: output (x, y) is
// the input at (x + dx, y + dy).
#pragma once
#include "families/gather/field.h"
#include "families/gather/gather.h"
#include "operator/image_work.h"

namespace penstock {

// The rule of the family gather that reads such a field.
struct FieldRule {
  PENSTOCK_PIXEL(
      struct Coef {
        const float* x;
        const float* y;
        int64_t width;
      };
      template <class V> PENSTOCK_INLINE static gather::Position<V> at(int32_t, int32_t y, int32_t x, const Coef& c) {
        const int64_t i = y * c.width + x;
        const V by_x = gather::read_only(c.x + i);
        const V by_y = gather::read_only(c.y + i);
        return gather::displaced(static_cast<V>(x), static_cast<V>(y), by_x, by_y);
      });
};

// Two planes of (height, width), of displacements along x and y. `Rule`: Coef and value() as ElementStep says, which
// gives number i of the two planes and reads a table of float64. `host` fills both planes with the same.
template <class Rule>
gather::Field computed_field(int32_t height, int32_t width, const typename Rule::Coef& coef,
                             const std::vector<double>& table, std::function<void(float* dx, float* dy)> host,
                             SampleWork& to) {
  const Shape shape{2, height, width};
  const int64_t plane = int64_t{height} * width;
  auto* const field = static_cast<float*>(to.scratch(static_cast<size_t>(2 * plane) * sizeof(float)));
  const View made{field, DType::float32, {}, shape, dense_strides(shape)};
  const ImageTable bytes = image_table(table);
  to.map(made, made,
         {[] { return std::string(Rule::pixel_text); }, coef_bytes_of(coef), bytes, [bytes] { return *bytes; },
          [=] { host(field, field + plane); }});
  to.then();
  return {field, field + plane};
}

}  // namespace penstock
