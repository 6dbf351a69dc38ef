// SPDX-License-Identifier: Apache-2.0
// Sources whose arguments may have a value for each sample. Two forms (operator/forms.h) then do their work: one is a
// source that names the samples, the other one an operator that loads what is named. Each takes the arguments that it
// knows.
#pragma once
#include <string>

namespace penstock {

struct ValueForms {
  std::string names, values;
};
bool add_value_forms(const char* source, ValueForms forms);
const ValueForms* value_forms(const std::string& source);  // nullptr: it takes no such values

}  // namespace penstock
