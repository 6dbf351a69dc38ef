// SPDX-License-Identifier: Apache-2.0
// The headers of this folder as text, for the kernels' compiler. They follow vocabulary().
#pragma once
#include <string>

namespace penstock {

std::string kernel_source(const std::string& header);  // "groups.h", after what it includes of this folder

}  // namespace penstock
