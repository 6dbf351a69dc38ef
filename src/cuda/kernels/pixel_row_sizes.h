// SPDX-License-Identifier: Apache-2.0
// Sizes of pixel_rows.h and moved_rows.h, for host and device.
#pragma once

namespace penstock {
constexpr int kMovedPixels = 128;    // of wide elements, that a warp takes at once
constexpr int kMovedBytes = 1024;    // the same of rows whose planes do not matter
constexpr int kRowPixels = 480;      // that a warp takes at once: with what comes before them, 96 vectors at most
constexpr int kRowVectors = 96 + 2;  // of shared memory: one more at each end
constexpr int kRowBytes = 2 * kRowVectors * 16;  // of a warp: pixels and results
}  // namespace penstock
