// SPDX-License-Identifier: Apache-2.0
#include "exec/steps/stage_program.h"

#include <algorithm>
#include <map>
#include <utility>

namespace penstock {

std::vector<ValueType> types_of(const Iteration& it, std::span<const ValueRef> inputs) {
  std::vector<ValueType> types;
  types.reserve(inputs.size());
  for (const auto& in : inputs) {
    const Batch& b = it.values.at(in);
    types.push_back({b.dtype(), b.ndim(), b.layout()});
  }
  return types;
}

std::vector<ValueRef> size_outputs(const Plan& plan, const Step& s) {
  std::vector<ValueRef> sizes;
  for (int id : s.nodes)
    if (const Node& n = plan.graph.node(id); gives_size(n)) sizes.push_back({id, n.outputs - 1});
  return sizes;
}

StageProgram program_of(const StepContext& c, Iteration& it, const Step& s, std::vector<ValueType> inputs,
                        const std::vector<ValueRef>& sizes) {
  const Graph& graph = c.plan.graph;
  StageProgram program;
  program.inputs = std::move(inputs);
  std::map<ValueRef, int> number;
  for (size_t i = 0; i < s.inputs.size(); ++i) number.emplace(s.inputs[i], static_cast<int>(i));
  const auto operand = [&](const Node& n, ValueRef v) {
    const auto known = number.find(v);
    return known == number.end() ? number.at({n.id, 0, Place::pixels}) : known->second;
  };
  for (int id : s.nodes) {
    const Node& n = graph.node(id);
    std::vector<int> operands;
    for (const auto& in : n.inputs) operands.push_back(operand(n, in));
    try {
      number[{id, 0}] = append_node(program, c.bind(it, n), std::move(operands), c.graph.draws_of(n));
    } catch (Error& e) {
      e.op = n.op;
      e.user_line = n.user_line;
      throw;
    }
  }
  program.outputs = {number.at(s.output)};
  for (const ValueRef& v : sizes) {
    const Node& n = graph.node(v.node);
    program.sizes.push_back(operand(n, n.inputs[0]));
  }
  return program;
}

bool has_constant_arguments(const Plan& plan, const Step& s) {
  return std::all_of(s.nodes.begin(), s.nodes.end(), [&](int id) { return plan.graph.node(id).per_sample.empty(); });
}

bool fits(const StageProgram& program, std::span<const ValueType> types) {
  for (size_t i = 0; i < types.size(); ++i) {
    const ValueType& t = program.inputs[i];
    if (t.dtype != types[i].dtype || t.ndim != types[i].ndim ||
        (!types[i].layout.empty() && !(t.layout == types[i].layout)))
      return false;
  }
  return true;
}

}  // namespace penstock
