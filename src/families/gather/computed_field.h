// SPDX-License-Identifier: Apache-2.0
// Fields of displacements that an operator computes for each pixel, before pixels are sampled by them: output (x, y) is
// the input at (x + dx, y + dy).
#pragma once
#include "families/gather/field.h"
#include "families/gather/gather.h"
#include "families/gather/kernels/computed_field.h"

namespace penstock::gather {

// The rule that reads a field.
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

// The field of a rule as kernels/computed_field.h says. `host` fills both planes with the same. Neither extent is 0.
template <class Rule>
Field computed_field(int32_t height, int32_t width, const typename Rule::Coef& coef, const std::vector<double>& table,
                     std::function<void(float* dx, float* dy)> host, SampleWork& to) {
  using Row = ComputedRow<typename Rule::Coef>;
  const int64_t plane = int64_t{height} * width;
  auto* const field = static_cast<float*>(to.scratch(static_cast<size_t>(2 * plane) * sizeof(float)));
  const auto bytes = std::as_bytes(std::span(table));
  KernelStep step;
  step.kernel.header = "families/gather/kernels/computed_field.h", step.kernel.name = "gather::compute_field";
  step.kernel.rule = &rule_text<Rule>;
  step.row = row_bytes(Row{field, {}, coef}), step.work = 2 * plane;
  step.data = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  step.data_member = sizeof(float*);
  static_assert(offsetof(Row, table) == sizeof(float*));
  step.host = [=] { host(field, field + plane); };
  to.kernel(std::move(step));
  to.then();
  return {field, field + plane};
}

}  // namespace penstock::gather
