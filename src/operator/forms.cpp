// SPDX-License-Identifier: Apache-2.0
#include "operator/forms.h"

#include <map>

namespace penstock {

static std::map<std::string, ChooseForm>& choices() {
  static auto* all = new std::map<std::string, ChooseForm>;
  return *all;
}

bool add_forms(const char* op, ChooseForm choose) { return choices().emplace(op, choose).second; }

const OpInfo& form_of(const OpInfo& info, size_t inputs, std::span<const Argument> args) {
  const auto found = choices().find(info.name);
  if (found == choices().end()) return info;
  try {
    return get_op(found->second(info, inputs, args));
  } catch (Error& e) {
    if (e.kind() == ErrorKind::type) bind_op(info, args);  // its error names the argument
    e.op = info.name;
    throw;
  }
}

}  // namespace penstock
