// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace penstock {

// Writes the bytes beside `path` and renames them to it, so that a reader sees the old file or the new one, whole,
// whatever happens meanwhile. An old file's mode is kept. Error (data) with the path where that fails; nothing is left.
void replace_file(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace penstock
