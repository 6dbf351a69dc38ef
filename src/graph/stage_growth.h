// SPDX-License-Identifier: Apache-2.0
// Which operator may follow which in one stage without a change of bytes. Only this file knows.
#pragma once
#include <limits>

#include "graph/passes.h"
#include "stage/code.h"

namespace penstock {

// Bound with argument values that come later.
std::shared_ptr<BoundOp> bound_early(const Graph& g, const Node& n);
StageTraits stage_traits(const Graph& g, const Node& n);
bool stage_decodes(const Graph& g, const Node& n);  // false for other families

// The properties of a growing stage so far.
class StageGrowth {
 public:
  StageGrowth(const Planning& p, const Node& first, const StageTraits& t) { take(p, first, t); }
  // Whether `n`, which reads the stage's result as its operand `along`, may join it. `pushed`: the decoder applies its
  // window.
  bool may_take(const Planning& p, const Node& n, const StageTraits& t, bool pushed, size_t along = 0) const;
  void take(const Planning& p, const Node& n, const StageTraits& t);
  // Whether the two may merge, if a node that both accept combines their results; `inputs`: of both and of the
  // node.
  bool may_join(const StageGrowth& other, size_t inputs) const;
  void join(const StageGrowth& other);

 private:
  bool decodes_ = false, reads_frames_ = false, filter_ = false, warp_ = false, window_ = false, pixel_ = false,
       closed_ = false;
  bool channels_matter_ = false, positional_ = false, retyped_ = false;
  int nodes_ = 0, joined_ = 0;
  size_t inputs_ = 1;
  int size_reader_ = std::numeric_limits<int>::max();  // first node that reads the size of an operator's input
};

}  // namespace penstock
