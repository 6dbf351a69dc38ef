// SPDX-License-Identifier: Apache-2.0
// Convolutions whose warps go down strips of an image: what a lane takes. Host and device know it.
#pragma once

namespace penstock {

// Convolutions that slide: pixels of a lane. The first and the last lane of a warp serve their neighbors alone.
constexpr int sliding_group(int planes) { return planes == 1 ? 8 : 4; }
// Convolutions that stream: bytes of a lane, rows of a warp at once, and those that it has in shared memory, some of
// which are on their way.
constexpr int kStreamBytes = 16, kStreamRows = 2, kStreamTaps = 5, kStreamSlots = kStreamTaps - 1 + 2 * kStreamRows;

}  // namespace penstock
