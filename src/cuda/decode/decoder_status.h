// SPDX-License-Identifier: Apache-2.0
// What the calls of nvJPEG, nvJPEG2000 and nvTIFF return.
#pragma once
#include <span>
#include <string>

namespace penstock {

// The values that they have in common; others follow.
enum class DecoderStatus : int {
  success = 0,
  not_initialized,
  invalid_parameter,
  bad_file,
  not_supported,
  allocator_failure,
  execution_failed,
  arch_mismatch,
  internal_error
};
// `format`: of the library's files. `others`: words for the values that follow.
std::string status_string(DecoderStatus status, const char* format, std::span<const char* const> others);

}  // namespace penstock
