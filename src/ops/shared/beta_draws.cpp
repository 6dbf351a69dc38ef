// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/beta_draws.h"

#include <algorithm>

#include "base/crew.h"
#include "base/target.h"
#include "pixel/philox_blocks.h"

namespace penstock {
namespace {

constexpr int kBetas = static_cast<int>(kStreamsTogether);

// The blocks of an attempt, for many elements.
struct BetaColumns {
  PhiloxColumns normal, test, boost;
};

#define PENSTOCK_LOOPS betas
#define PENSTOCK_LOOPS_TEXT "ops/shared/beta_draws.inc.h"
#include "base/foreach_target.h"

// Elements that have no number yet.
struct Waiting {
  int element[kBetas];
  int count = 0;
};

// One attempt for each that waits; `failed`: those that it gives no number. next[i] is the first block that element i
// has not used.
template <class T> void attempt(Target target, const RandomStream& stream, const BetaShapes& shapes, bool quick,
                                const Waiting& waiting, const uint64_t* next, BetaColumns& columns, T* out,
                                Waiting& failed) {
  uint64_t numbers[kBetas];
  double tried[kBetas];
  const auto n = static_cast<size_t>(waiting.count);
  for (size_t k = 0; k < n; ++k) numbers[k] = next[waiting.element[k]];
  const auto blocks = [&](PhiloxColumns& to) {
    philox_blocks_at(stream, {numbers, n}, to);
    for (size_t k = 0; k < n; ++k) ++numbers[k];
  };
  blocks(columns.normal), blocks(columns.test);
  if (shapes.small()) blocks(columns.boost);
  const int whole = std::min((waiting.count + 7) / 8 * 8, kBetas);  // whole vectors
  PENSTOCK_FOR_TARGET(target, betas, attempts(shapes, columns, quick, whole, tried));
  for (size_t k = 0; k < n; ++k) {  // without a branch: no processor foresees which attempts fail
    const int i = waiting.element[k];
    out[i] = static_cast<T>(tried[k]);
    failed.element[failed.count] = i, failed.count += tried[k] != tried[k];
  }
}
template <class T> void draw_betas(Target target, T* out, int64_t first, int n, const RandomStream& stream,
                                   const BetaShapes& shapes, BetaColumns& columns) {
  uint64_t next[kBetas];
  Waiting waiting;
  for (int i = 0; i < n; ++i) next[i] = first_gamma_block(first + i), waiting.element[i] = i;
  waiting.count = n;
  while (waiting.count > 0) {
    Waiting doubtful, failed;
    attempt(target, stream, shapes, true, waiting, next, columns, out + first, doubtful);
    attempt(target, stream, shapes, false, doubtful, next, columns, out + first, failed);
    for (int k = 0; k < failed.count; ++k) next[failed.element[k]] += beta_blocks(shapes.small());
    waiting = failed;
  }
}

}  // namespace

void draw_betas(const View& out, const RandomStream& stream, const BetaShapes& shapes) {
  const Target target = best_target();
  const int64_t n = out.volume();
  const auto bytes = n * static_cast<int64_t>(size_of(out.dtype));
  Crew::share((n + kBetas - 1) / kBetas, bytes, [&](int64_t tile, int64_t end) {
    BetaColumns columns{};  // numbers after the last ones of a vector, too
    for (; tile < end; ++tile) {
      const int64_t first = tile * kBetas;
      const int count = static_cast<int>(std::min<int64_t>(kBetas, n - first));
      if (out.dtype == DType::float64) draw_betas(target, out.as<double>(), first, count, stream, shapes, columns);
      else draw_betas(target, out.as<float>(), first, count, stream, shapes, columns);
    }
  });
}

}  // namespace penstock
