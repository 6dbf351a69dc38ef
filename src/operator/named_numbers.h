// SPDX-License-Identifier: Apache-2.0
// Names of the numbers that arguments such as interp_type and image_type take.
#pragma once
#include <string>

#include "operator/argument.h"

namespace penstock {

// The number that a text names, else the value; throws an error that lists the names if the text is unknown.
Value without_name(const ArgInfo& info, const Value& v);
std::string default_text(const ArgInfo& info);  // Python literal, with names of numbers and types

}  // namespace penstock
