// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/beta_draws.h"

#include <algorithm>
#include <utility>

#include "base/crew.h"
#include "base/target.h"
#include "pixel/philox_blocks.h"

namespace penstock {
namespace {

#define PENSTOCK_LOOPS betas
#define PENSTOCK_LOOPS_TEXT "ops/shared/beta_draws.inc.h"
#include "base/foreach_target.h"

constexpr int kGammas = static_cast<int>(kStreamsTogether);

// The logarithms of n gamma distributed numbers. next[i] is the first block that element i has not used.
void log_gammas(Target target, const RandomStream& stream, const GammaShape& shape, int n, uint64_t* next,
                double* found) {
  int waiting[kGammas];
  for (int i = 0; i < n; ++i) waiting[i] = i;
  const auto attempts = PENSTOCK_FOR_TARGET(target, &betas, attempts);
  for (int left = n; left > 0;) {
    uint64_t numbers[kGammas];
    PhiloxColumns normal{}, other{};
    double tried[kGammas];
    for (int k = 0; k < left; ++k) numbers[k] = next[waiting[k]];
    philox_blocks_at(stream, {numbers, static_cast<size_t>(left)}, normal);
    for (int k = 0; k < left; ++k) ++numbers[k];
    philox_blocks_at(stream, {numbers, static_cast<size_t>(left)}, other);
    attempts(shape, normal, other, std::min((left + 7) / 8 * 8, kGammas), tried);  // whole vectors
    const int count = std::exchange(left, 0);
    for (int k = 0; k < count; ++k) {
      const int i = waiting[k];
      next[i] += 2, found[i] = tried[k];
      if (tried[k] != tried[k]) waiting[left++] = i;
    }
  }
}
template <class T>
void draw_betas(Target target, T* out, int64_t first, int n, const RandomStream& stream, const GammaShape& alpha,
                const GammaShape& beta) {
  uint64_t next[kGammas];
  double log_a[kGammas], log_b[kGammas];
  for (int i = 0; i < n; ++i) next[i] = first_gamma_block(first + i);
  log_gammas(target, stream, beta, n, next, log_b);
  log_gammas(target, stream, alpha, n, next, log_a);
  PENSTOCK_FOR_TARGET(target, betas, quotients(log_a, log_b, n, out + first));
}

}  // namespace

void draw_betas(const View& out, const RandomStream& stream, const GammaShape& alpha, const GammaShape& beta) {
  const Target target = best_target();
  const int64_t n = out.volume();
  const auto bytes = n * static_cast<int64_t>(size_of(out.dtype));
  Crew::share((n + kGammas - 1) / kGammas, bytes, [&](int64_t tile, int64_t end) {
    for (; tile < end; ++tile) {
      const int64_t first = tile * kGammas;
      const int count = static_cast<int>(std::min<int64_t>(kGammas, n - first));
      if (out.dtype == DType::float64) draw_betas(target, out.as<double>(), first, count, stream, alpha, beta);
      else draw_betas(target, out.as<float>(), first, count, stream, alpha, beta);
    }
  });
}

}  // namespace penstock
