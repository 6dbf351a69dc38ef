// SPDX-License-Identifier: Apache-2.0
// Operators with forms. An operator has one family; for some values of its arguments another one computes it, a form:
// a hidden operator with the same arguments, whose name is that of the first, "@" and a word. Who has a name asks for
// the form before anything else, so that stages, kernels and plans know only the form. Messages leave "@" and the word
// out.
#pragma once
#include <span>

#include "operator/bound_op.h"

namespace penstock {

// The name of the form for these arguments, with the arguments of `info` and so many inputs.
using ChooseForm = std::string (*)(const OpInfo& info, size_t inputs, std::span<const Argument> args);
bool add_forms(const char* op, ChooseForm choose);

inline bool is_form(const OpInfo& info) { return info.name.find('@') != std::string::npos; }
// The form for these arguments; `info` itself if the operator has no forms.
const OpInfo& form_of(const OpInfo& info, size_t inputs, std::span<const Argument> args);

}  // namespace penstock
