// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "batch/batch.h"

namespace penstock {

// The bytes of an encoded file that a sample holds. Error (type) if it is not uint8 with one dimension.
std::span<const uint8_t> encoded_bytes(const View& v);

}  // namespace penstock
