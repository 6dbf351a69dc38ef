// SPDX-License-Identifier: Apache-2.0
// The difference of two images, limited to the range of their type.
#pragma once
#include "base/intrinsics.h"
#include "base/target.h"
#include "operator/image_work.h"

namespace penstock {

struct DifferenceRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        const void* less;  // what is subtracted
      };
      template <class T> PENSTOCK_HD static T difference(T a, T b) {
        return stored<T>(static_cast<NumberOf<T>>(a) - static_cast<NumberOf<T>>(b));
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const int64_t i = offset_of(c.out, p.outer, p.z, p.y, p.x, p.inner);
        return difference<In>(in[i], static_cast<const In*>(c.less)[i]);
      });
};

#define PENSTOCK_LOOPS difference_loops
#define PENSTOCK_LOOPS_TEXT "ops/shared/difference.inc.h"
#include "base/foreach_target.h"

// out = from - less, of one dense shape and type; not of 64-bit integers, whose difference float64 rounds.
inline void subtract(const View& from, const View& less, const View& out, SampleWork& to) {
  if (out.volume() == 0) return;
  const DifferenceRule::Coef c{{1, 1, 1, out.volume(), 1}, less.data};
  const auto host = [=] {
    dispatch(out.dtype, [&]<class T>(TypeTag<T>) {
      PENSTOCK_FOR_TARGET(best_target(), difference_loops,
                          differences(from.as<const T>(), less.as<const T>(), out.as<T>(), out.volume()));
    });
  };
  to.map(from, out, {&image_rule_text<DifferenceRule>, coef_bytes_of(c), nullptr, nullptr, host});
}

}  // namespace penstock
