// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>

#include "ops/machine/argument.h"

namespace penstock {

// Of arguments that are data, such as what fills a border: also NaN, which is an error elsewhere.
constexpr Range any_number{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), false};

}  // namespace penstock
