// SPDX-License-Identifier: Apache-2.0
// Consecutive operators, as the program of a stage.
#pragma once
#include <gtest/gtest.h>

#include <map>

#include "stage/program.h"

namespace penstock {

struct OpCall {
  std::string op;
  std::vector<std::pair<std::string, Value>> args;
  std::vector<std::pair<std::string, const Batch*>> each = {};  // one value a sample
  bool there = false;                                           // which lie on the device
};

// `moved`: those of the device.
inline StageProgram program_of(const std::vector<OpCall>& steps, const std::vector<ValueType>& inputs,
                               const std::map<const Batch*, Batch>& moved = {}) {
  StageProgram p;
  p.inputs = inputs;
  int value = 0;
  uint32_t id = 1;
  for (const auto& step : steps) {
    const OpInfo& info = get_op(step.op);
    std::vector<Argument> args(info.args.size());
    for (const auto& [name, v] : step.args) {
      bool found = false;
      for (size_t i = 0; i < info.args.size(); ++i)
        if (info.args[i].name == name) args[i].value = v, found = true;
      EXPECT_TRUE(found) << name;
    }
    for (const auto& [name, batch] : step.each)
      for (size_t i = 0; i < info.args.size(); ++i)
        if (info.args[i].name == name) args[i].batch = step.there && moved.contains(batch) ? &moved.at(batch) : batch;
    std::vector<int> operands{value};
    if (p.nodes.empty())
      for (size_t k = 1; k < inputs.size(); ++k) operands.push_back(static_cast<int>(k));
    value = append_node(p, std::shared_ptr<BoundOp>(bind_op(info, args)), operands, {0, id++});
  }
  p.outputs = {value};
  return p;
}

}  // namespace penstock
