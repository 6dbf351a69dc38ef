// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/control_points.h"

#include "base/crew.h"
#include "base/target.h"

namespace penstock {

namespace {
#define PENSTOCK_LOOPS control_points
#define PENSTOCK_LOOPS_TEXT "ops/shared/control_points.inc.h"
#include "base/foreach_target.h"

}  // namespace

void displace_by_points(const PointsRule::Coef& c, const double* points, float* dx, float* dy) {
  const Target target = best_target();
  Crew::share(c.height, int64_t{8} * c.height * c.width, [&](int64_t first, int64_t end) {
    for (auto y = static_cast<int32_t>(first); y < end; ++y) {
      const int64_t at = int64_t{y} * c.width;
      PENSTOCK_FOR_TARGET(target, control_points, displace_row(c, points, y, dx + at, dy + at));
    }
  });
}

}  // namespace penstock
