// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/decoder_status.h"

#include <fmt/format.h>

namespace penstock {

std::string status_string(DecoderStatus status, const char* format, std::span<const char* const> others) {
  switch (status) {
    case DecoderStatus::success: return "success";
    case DecoderStatus::not_initialized: return "not initialized";
    case DecoderStatus::invalid_parameter: return "invalid parameter";
    case DecoderStatus::bad_file: return fmt::format("damaged {} file", format);
    case DecoderStatus::not_supported: return fmt::format("unsupported kind of {} file", format);
    case DecoderStatus::allocator_failure: return "out of memory";
    case DecoderStatus::execution_failed: return "execution failed";
    case DecoderStatus::arch_mismatch: return "unsupported kind of GPU";
    case DecoderStatus::internal_error: return "internal error";
  }
  const auto i = static_cast<size_t>(status) - static_cast<size_t>(DecoderStatus::internal_error) - 1;
  return i < others.size() ? others[i] : "unknown status";  // of a negative one i is large
}

}  // namespace penstock
