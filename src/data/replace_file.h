// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace penstock {

// Writes the bytes to a file beside `path` and renames it to `path`: a reader sees either the old file or the new one,
// complete, even after a crash. Keeps an old file's mode. On failure throws Error (data) with the path and leaves
// nothing.
void replace_file(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace penstock
