// SPDX-License-Identifier: Apache-2.0
// Copies in which neighbors in the source are far apart in the target and vice versa: tiles go through shared memory.
#pragma once
#include <array>
#include <map>

#include "cuda/stages/stage_table.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/kernels/tile.h"
#include "cuda/whole/kernels/turned.h"

namespace penstock {

DType type_of_size(size_t bytes);

// A few channels that are neighbors only in the source go through together, like those that are neighbors in the
// target.
void take_planes(SampleGeometry& g);

// Tables of the kernels.
class Transposes {
 public:
  // Takes the step, of elements of so many bytes, if it suits tiles.
  bool take(const CopyStep& step, const SampleGeometry& g, size_t bytes);
  void add_to(Launches& to, size_t bytes) const;

 private:
  std::array<EntryTable<whole::TileRow>, 5> tiles_;                     // by planes
  std::map<std::pair<int, int>, EntryTable<whole::TurnedRow>> turned_;  // by the bytes of a unit and of its parts
};

}  // namespace penstock
