// SPDX-License-Identifier: Apache-2.0
// The headers of this folder as text, for the kernels' compiler. They follow vocabulary().
#pragma once
#include <span>
#include <string>

namespace penstock {

// "groups.h", after what it includes of this folder.
std::string kernel_source(const char* header);
std::string kernel_source(std::span<const char* const> headers);

}  // namespace penstock
