// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>

#include "operator/argument.h"

namespace penstock {

// Marks arguments that are data, such as the value of a border: they also accept NaN, which is an error elsewhere.
constexpr Range any_number{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), false};

}  // namespace penstock
