// SPDX-License-Identifier: Apache-2.0
// Teams whose warps decode blocks of LZ4.
#pragma once
#include "families/team/kernels/team.h"
#include "numerics/lz4_block.h"

namespace penstock::whole {

// Of a block's threads; where a block has one thread, it is a warp.
struct Warp {
  int index, count;  // of warps in the team
  int lane, lanes;
  PENSTOCK_HD explicit Warp(const Team& team)
      : index(team.index / 32),
        count((team.count + 31) / 32),
        lane(team.index % 32),
        lanes(team.count < 32 ? team.count : 32) {}
  PENSTOCK_HD void copy(uint8_t* to, const uint8_t* from, int64_t n) const {
    for (int64_t k = lane; k < n; k += lanes) to[k] = from[k];
  }
  PENSTOCK_HD void repeat(uint8_t* to, int64_t distance, int64_t n) const {
    wait();  // what other lanes have written
    for (int64_t k = lane; k < n; k += lanes) {
      const int64_t at = k < distance ? k : k % distance;
      to[k] = to[at - distance];
    }
    wait();
  }
  PENSTOCK_HD void wait() const {
#ifdef __CUDACC__
    __syncwarp();
#endif
  }
};

}  // namespace penstock::whole
