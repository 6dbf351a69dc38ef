// SPDX-License-Identifier: Apache-2.0
// A loop of the CPU over pixels of three bytes that become such pixels, for a pixel function that has a faster way than
// float32 by float32. The bytes are those of pixel().
#pragma once
#include "operator/bound_op.h"

namespace penstock {

// n pixels, side by side. False: this operator, or this target, has no such loop.
using BytePixels = bool (*)(const BoundOp& op, Target target, const uint8_t* in, uint8_t* out, int64_t n);
bool add_byte_pixels(const char* op, BytePixels loop);
BytePixels byte_pixels(const BoundOp& op);  // null: there is none

}  // namespace penstock
