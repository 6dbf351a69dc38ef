// SPDX-License-Identifier: Apache-2.0
// The headers of this folder as text, for the kernels' compiler. They follow vocabulary().
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace penstock {

std::string kernel_source(std::string_view header);  // "groups.h"
// One after the other. A header comes after those that it includes.
std::string kernel_source(std::span<const char* const> headers);

}  // namespace penstock
