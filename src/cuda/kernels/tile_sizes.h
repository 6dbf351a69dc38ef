// SPDX-License-Identifier: Apache-2.0
// What blocks and lanes of some kernels of tiles take, for the host that chooses tiles and for the kernels.
#pragma once

namespace penstock {
// A tile of outputs that read two samples each way: what a block finds out about its sample takes as long as a thousand
// of them.
constexpr int kDirectWidth = 64, kDirectHeight = 64;
// Resampled bytes: samples that a lane filters vertically, rows that a warp has in shared memory at once (or half of
// them).
constexpr int resampled_chunk(int planes) { return planes == 1 ? 8 : 4; }
constexpr int kResampledRows = 4;
// Rows of outputs that a block makes while what the next ones read is on its way; bytes of shared memory for both.
constexpr int kFetchedRows = 4, kFetchedBytes = 40 * 1024;
}  // namespace penstock
