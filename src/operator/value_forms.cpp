// SPDX-License-Identifier: Apache-2.0
#include "operator/value_forms.h"

#include <map>
#include <utility>

namespace penstock {

static std::map<std::string, ValueForms>& all() {
  static auto* forms = new std::map<std::string, ValueForms>;
  return *forms;
}

bool add_value_forms(const char* source, ValueForms forms) { return all().emplace(source, std::move(forms)).second; }

const ValueForms* value_forms(const std::string& source) {
  const auto found = all().find(source);
  return found == all().end() ? nullptr : &found->second;
}

}  // namespace penstock
