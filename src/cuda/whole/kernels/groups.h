// SPDX-License-Identifier: Apache-2.0
// Parts of images that a group of threads processes together: a block a group.
#pragma once
#include <cstdint>

#include "cuda/whole/kernels/entry.h"

namespace penstock::whole {

struct GroupRow {
  const uint8_t* in;
  InData<char> coef;
};
static_assert(sizeof(GroupRow) == 16);

// As GroupLanes of operator/image_work.h.
struct GroupLanes {
  int index, count;
  PENSTOCK_HD void sync() const { wait_for_block(); }
  PENSTOCK_HD void add(int32_t* to) const {
#ifdef __CUDACC__
    atomicAdd(to, 1);
#else
    ++*to;  // threads run in turn
#endif
  }
};

// Units of work are groups. Rule: Coef, and group(in, g, coef, threads, memory).
template <class Rule> PENSTOCK_KERNEL void run_groups(const Entry<GroupRow>& e) {
  const auto& coef = *reinterpret_cast<const typename Rule::Coef*>(e.at(e.row.coef));
  const GroupLanes group = {static_cast<int>(thread()), static_cast<int>(threads())};
  for (int64_t g = e.begin; g < e.end; ++g) {
    Rule::group(e.row.in, g, coef, group, shared_bytes());
    wait_for_block();
  }
}

}  // namespace penstock::whole
