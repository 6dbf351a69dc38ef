// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/stage_program.h"

namespace penstock {

int append_node(StageProgram& program, std::shared_ptr<BoundOp> op, std::vector<int> operands, uint32_t id) {
  const int inputs = static_cast<int>(program.inputs.size());
  auto type_of = [&](int v) -> ValueType& {
    return v < inputs ? program.inputs[v] : program.nodes[v - inputs].type;
  };
  std::vector<ValueType> types;
  for (int o : operands) types.push_back(type_of(o));
  ValueType out;
  try {
    op->infer(types, std::span(&out, 1));
    for (size_t i = 0; i < operands.size(); ++i) type_of(operands[i]).layout = op->input_layout(types[i]);
  } catch (Error& e) {
    e.op = op->info->name;
    throw;
  }
  program.nodes.push_back({std::move(op), std::move(operands), out, id});
  return inputs + static_cast<int>(program.nodes.size()) - 1;
}

}  // namespace penstock
