// SPDX-License-Identifier: Apache-2.0
// What an argument of a kind must be, in the words of errors.
#pragma once
#include "operator/argument.h"

namespace penstock {

const char* meaning_of(ArgType t);  // "an integer"

}  // namespace penstock
