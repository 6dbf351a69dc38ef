// SPDX-License-Identifier: Apache-2.0
#include "stage/program.h"

#include <algorithm>
#include <limits>

namespace penstock {

const ValueType& type_of(const StageProgram& program, int value) {
  const int inputs = static_cast<int>(program.inputs.size());
  return value < inputs ? program.inputs[value] : program.nodes[value - inputs].type;
}

Shape spatial_extents(const Layout& layout, const Shape& shape) {
  Shape s;
  for (int i = 0; i < layout.size() && i < shape.size(); ++i)
    if (layout[i] == 'D' || layout[i] == 'H' || layout[i] == 'W') s.push_back(shape[i]);
  return s;
}

void write_size(const StageProgram& program, int k, const Shape& shape, const AllocateOutput& allocate) {
  const Shape size = spatial_extents(type_of(program, program.sizes[k]).layout, shape);
  const View out = allocate(static_cast<int>(program.outputs.size()) + k, kSizeType.dtype, Shape{size.size()}, {});
  for (int i = 0; i < size.size(); ++i)
    out.as<int32_t>()[i] = static_cast<int32_t>(std::min<int64_t>(size[i], std::numeric_limits<int32_t>::max()));
}

StageProgram program_of(const StageProgram& program, const StageNode& node) {
  StageProgram one;
  one.nodes.push_back(node);
  const int n = static_cast<int>(node.operands.size());
  for (int k = 0; k < n; ++k) {
    one.inputs.push_back(type_of(program, node.operands[static_cast<size_t>(k)]));
    one.nodes[0].operands[static_cast<size_t>(k)] = k;
  }
  one.outputs = {n};
  return one;
}

int append_node(StageProgram& program, std::shared_ptr<BoundOp> op, std::vector<int> operands, DrawKey draws) {
  const int inputs = static_cast<int>(program.inputs.size());
  auto type_of = [&](int v) -> ValueType& { return v < inputs ? program.inputs[v] : program.nodes[v - inputs].type; };
  std::vector<ValueType> types;
  for (int o : operands) types.push_back(type_of(o));
  const OpInfo& info = *op->info;
  const int outputs = info.count_outputs ? info.count_outputs(*op) : info.outputs;
  std::vector<ValueType> out(info.family == Family::whole ? static_cast<size_t>(outputs) : 1);
  try {
    op->infer(types, out);
    for (size_t i = 0; i < operands.size(); ++i) type_of(operands[i]).layout = op->input_layout(types[i]);
  } catch (Error& e) {
    e.op = op->info->name;
    throw;
  }
  program.nodes.push_back({std::move(op), std::move(operands), out[0], draws});
  program.more.assign(out.begin() + 1, out.end());
  return inputs + static_cast<int>(program.nodes.size()) - 1;
}

}  // namespace penstock
