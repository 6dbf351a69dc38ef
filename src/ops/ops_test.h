// SPDX-License-Identifier: Apache-2.0
// Calls operators by their names, for tests.
#pragma once
#include <gtest/gtest.h>

#include "exec/call.h"

namespace penstock::test {

using Given = std::vector<std::pair<std::string, Value>>;

inline std::vector<Argument> arguments(const OpInfo& info, const Given& given) {
  std::vector<Argument> args(info.args.size());
  for (const auto& [name, value] : given) {
    const ArgInfo* a = info.arg(name);
    if (!a) ADD_FAILURE() << name;
    else args[a - info.args.data()].value = value;
  }
  return args;
}

inline Batch call(const char* name, std::vector<Batch> in, const Given& given = {}) {
  const OpInfo& info = get_op(name);
  return std::move(call_op(info, in, arguments(info, given)).at(0));
}

}  // namespace penstock::test
