// SPDX-License-Identifier: Apache-2.0
// Operators that run in one pass, as data: what a CPU or GPU needs to run a stage.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operator/bound_op.h"

namespace penstock {

// Values are numbered: the inputs first, then the result of each node. Maps are only on the path from input 0.
struct StageNode {
  std::shared_ptr<const BoundOp> op;
  std::vector<int> operands;
  ValueType type;  // the type that the edge after the node stores: its rounding is applied
  DrawKey draws;   // replaces SampleContext::draws
};
struct StageProgram {
  std::vector<ValueType> inputs;
  std::vector<StageNode> nodes;
  std::vector<int> outputs;
  std::vector<int> sizes;  // values whose extents D, H, W are further outputs, after `outputs`: int32, outermost first
  std::vector<ValueType>
      more;  // for a whole operator, alone in its stage: its outputs after the first, after all others
};

// Input of one sample: pixels, or an encoded image if the first node decodes.
struct StageInput {
  View view;
  Bytes encoded;
  EntropyIndexAccess* index = nullptr;  // of `encoded`, if there is a store of indexes
  std::string* lacking = nullptr;       // if not null, gets DecodeTask::lacking
};
// Called once per output when its shape is known.
using AllocateOutput = std::function<View(int output, DType, const Shape&, const Layout&)>;

// What such an output is.
inline const ValueType kSizeType{DType::int32, 1, {}};
const ValueType& type_of(const StageProgram& program, int value);
Shape spatial_extents(const Layout& layout, const Shape& shape);
// One output of StageProgram::sizes, of a value of this shape.
void write_size(const StageProgram& program, int k, const Shape& shape, const AllocateOutput& allocate);

// Several operators share a stage: what one of them refuses has its name.
template <class Work> decltype(auto) as_operator(const BoundOp& op, Work&& work) {
  try {
    return work();
  } catch (Error& e) {
    if (e.op.empty()) e.op = op.info->name;
    throw;
  }
}

// Appends a node: determines the layouts of its operands and its type. Returns the number of its value.
int append_node(StageProgram& program, std::shared_ptr<BoundOp> op, std::vector<int> operands, DrawKey draws);
// A stage of this node alone: its inputs are the node's operands, in their order.
StageProgram program_of(const StageProgram& program, const StageNode& node);

}  // namespace penstock
