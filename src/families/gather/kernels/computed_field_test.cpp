// SPDX-License-Identifier: Apache-2.0
// Computed fields: the kernel, as ordinary C++ with fibers for threads, and the step of the host give what the rule
// gives.
#include "emulated_gpu/launch_rows.h"
//
#include <gtest/gtest.h>

#include <vector>

#include "families/gather/computed_field.h"
#include "operator/host_work.h"

namespace penstock::gather {
namespace {

struct RampRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t plane;
        double far;
      };
      PENSTOCK_HD static float displacement(int64_t i, const Coef& c, const double* table) {
        return static_cast<float>(static_cast<double>(i % c.plane) * table[i / c.plane] + c.far);
      });
};

TEST(ComputedField, KernelAndHostGiveWhatTheRuleGives) {
  const std::vector<double> table{0.25, -3};
  using Extents = std::vector<std::pair<int32_t, int32_t>>;
  for (const auto& [height, width] : Extents{{1, 1}, {3, 7}, {17, 33}, {5, 600}}) {
    const RampRule::Coef c{int64_t{height} * width, 1e-3};
    std::vector<float> expected, made(static_cast<size_t>(2 * c.plane));
    for (int64_t i = 0; i < 2 * c.plane; ++i) expected.push_back(RampRule::displacement(i, c, table.data()));
    using Row = ComputedRow<RampRule::Coef>;
    whole::launch<Row>({Row{made.data(), {}, c}}, {2 * c.plane}, whole::kThreads, compute_field<RampRule>, table.data(),
                       table.size() * sizeof(double));
    EXPECT_EQ(expected, made) << height << " x " << width;
    const auto host = [&](float* dx, float* dy) {
      std::copy_n(expected.data(), c.plane, dx), std::copy_n(expected.data() + c.plane, c.plane, dy);
    };
    const Field field = computed_field<RampRule>(height, width, c, table, host, host_work());
    EXPECT_EQ(field.y, field.x + c.plane);
    EXPECT_EQ(expected, std::vector<float>(field.x, field.x + 2 * c.plane)) << height << " x " << width;
  }
}

}  // namespace
}  // namespace penstock::gather
