// SPDX-License-Identifier: Apache-2.0
// The text of help(fn.name) and of the stubs: an operator's schema in the form of all docstrings of the package.
#pragma once
#include <string>
#include <vector>

#include "operator/bound_op.h"

namespace penstock::python {

struct Parameter {
  std::string name;  // "*inputs" where there may be many
  bool optional = false;
};

// What the operator takes by position.
std::vector<Parameter> input_parameters(const OpInfo& info);
// Whether the number of samples is an argument of calls outside of a pipeline: nothing else says it.
bool takes_batch_size(const OpInfo& info);
// The operator's text, without its example.
std::string description(const OpInfo& info);
std::string docstring(const OpInfo& info);
// What PyMethodDef takes: inspect.signature() reads the first line.
std::string text_signature(const OpInfo& info, const std::string& function);

}  // namespace penstock::python
