// SPDX-License-Identifier: Apache-2.0
// Bytes to bytes by a table of 256, on the host.
#pragma once
#include <cstdint>

#include "base/target.h"

namespace penstock {

// out[i] = table[in[i]]; out may be in.
void look_up_bytes(Target target, const uint8_t* in, uint8_t* out, int64_t n, const uint8_t* table);

}  // namespace penstock
