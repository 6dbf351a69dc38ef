// SPDX-License-Identifier: Apache-2.0
// Makes a library a plug-in: puts the version of these headers into it. operator.h, image_format.h and reader.h
// include it. Compile with C++20.
#pragma once
#include "penstock/plugin_abi.h"

namespace penstock::plugin {

// Found in the file by what it begins with, before the library is loaded.
[[gnu::used, gnu::visibility("default")]] inline constexpr char abi[] = "penstock plug-in abi: " PENSTOCK_PLUGIN_ABI;

}  // namespace penstock::plugin
