// SPDX-License-Identifier: Apache-2.0
// The text of help(fn.name) and of the stubs: an operator's schema in the common form of the package's docstrings.
#pragma once
#include <string>
#include <vector>

#include "operator/bound_op.h"

namespace penstock::python {

struct Parameter {
  std::string name;  // "*inputs" if there may be many
  bool optional = false;
};

// The positional parameters of the operator.
std::vector<Parameter> input_parameters(const OpInfo& info);
// Whether calls outside a pipeline have an argument for the number of samples: nothing else gives it.
bool takes_batch_size(const OpInfo& info);
// The operator's text, without its example.
std::string description(const OpInfo& info);
std::string docstring(const OpInfo& info);
// For PyMethodDef: inspect.signature() reads the first line.
std::string text_signature(const OpInfo& info, const std::string& function);

}  // namespace penstock::python
