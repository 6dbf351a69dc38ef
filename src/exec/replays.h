// SPDX-License-Identifier: Apache-2.0
// Which random numbers samples draw, where a program says it.
#pragma once
#include <mutex>
#include <vector>

#include "exec/iteration.h"

namespace penstock {

class Replays {
 public:
  // The samples of the primary source from the iteration `number` on draw what these drew, again from the first one
  // after the last; none: what they draw by themselves.
  void begin(std::vector<DrawOrigin> origins, uint64_t number);
  void begin_at(uint64_t number);  // with the first of them again
  // Sources are asked in the order of the iterations.
  void set(Iteration& it);
  // Without a source batches are full.
  void set(Iteration& it, int batch_size);
  void skip(int samples);  // of the source, which no iteration gets

 private:
  std::mutex mutex_;
  std::vector<DrawOrigin> origins_;
  uint64_t replayed_ = 0;  // samples of the primary source since begin()
  uint64_t first_ = 0;     // iteration that replays
};

}  // namespace penstock
