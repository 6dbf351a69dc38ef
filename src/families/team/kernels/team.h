// SPDX-License-Identifier: Apache-2.0
// The kernel of teams: a block is a team that runs an operator's rule on a sample, or on a part of its units of work.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "families/team/kernels/arrays.h"
#include "launch/entry.h"
#include "pixel/affine.h"
#include "pixel/convert.h"
#include "pixel/far_angles.h"
#include "pixel/float32.h"
#include "pixel/gamma.h"
#include "pixel/math.h"
#include "pixel/philox.h"
#include "pixel/stored.h"
#include "pixel/transcendental.h"

namespace penstock::whole {

// As Team of families/team/team.h.
struct Team {
  int64_t begin, end;  // units of work
  int index, count;

  PENSTOCK_HD void sync() const { wait_for_block(); }
  PENSTOCK_HD char* memory() const { return shared_bytes() + (kThreads + 2) * sizeof(int64_t); }
  PENSTOCK_HD Share share(int64_t n) const { return share_of(n, index, count); }
  // The sum of v of the threads before this one; `total` of all.
  PENSTOCK_HD int64_t before(int64_t v, int64_t& total) const {
    int64_t* const part = shared_memory<int64_t>();
    wait_for_block();
    part[index] = v;
    wait_for_block();
    for (int step = 1; step < count; step *= 2) {
      const int64_t other = index >= step ? part[index - step] : 0;
      wait_for_block();
      part[index] += other;
      wait_for_block();
    }
    total = part[count - 1];
    return part[index] - v;
  }
  PENSTOCK_HD int64_t least(int64_t v) const {
    int64_t* const part = shared_memory<int64_t>();
    wait_for_block();
    part[index] = v;
    for (int k = (count + 1) / 2, n = count; n > 1; n = k, k = (k + 1) / 2) {
      wait_for_block();
      if (index + k < n && part[index + k] < part[index]) part[index] = part[index + k];
    }
    wait_for_block();
    return part[0];
  }
  PENSTOCK_HD void raise(int64_t* at, int64_t v) const {
#ifdef __CUDACC__
    atomicMax(reinterpret_cast<long long*>(at), static_cast<long long>(v));
#else
    if (*at < v) *at = v;  // threads run in turn
#endif
  }
};

// Has the coefficients of the rule.
template <class Coef> struct TeamRow {
  Arrays arrays;
  Refusal* refusal;  // of the sample; null: the rule refuses nothing
  InData<char> table;
  Coef coef;
};

template <class Coef, class Run> PENSTOCK_KERNEL void run_as_team(const Entry<TeamRow<Coef>>& e, const Run& run) {
  const Team team{e.begin, e.end, static_cast<int>(thread()), static_cast<int>(threads())};
  Refusal refusal;
  run(e.row.arrays, e.row.coef, e.at(e.row.table), team, refusal);
  if (!e.row.refusal) return;
  const int64_t first = team.least(refusal.what ? team.index : team.count);
  if (first == team.count ? team.index == 0 : team.index == first) *e.row.refusal = refusal;
}

template <class Rule> PENSTOCK_KERNEL void run_team(const Entry<TeamRow<typename Rule::Coef>>& e) {
  run_as_team(e, [](const Arrays& a, const typename Rule::Coef& c, const char* table, const Team& team,
                    Refusal& refusal) { Rule::run(a, c, table, team, refusal); });
}
template <class In, class Rule> PENSTOCK_KERNEL void run_typed_team(const Entry<TeamRow<typename Rule::Coef>>& e) {
  run_as_team(e, [](const Arrays& a, const typename Rule::Coef& c, const char* table, const Team& team,
                    Refusal& refusal) { Rule::template run<In>(a, c, table, team, refusal); });
}

}  // namespace penstock::whole
