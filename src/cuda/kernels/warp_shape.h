// SPDX-License-Identifier: Apache-2.0
// How the outputs of an affine map of images are shared: host and device agree.
#pragma once

namespace penstock {

// A thread takes kWarpGroup neighbors, 32 threads kWarpAcross groups of several rows.
constexpr int kWarpGroup = 4, kWarpAcross = 8, kWarpDown = 32 / kWarpAcross;
// Outputs of a block each way where the box of the source that they read lies in shared memory, pixels as words; room
// for its pixels. Rows that are neither too short nor a multiple of the banks: 8 x 4 neighbors lie in different ones.
constexpr int kBoxTile = 64, kBoxPitch = 104, kBoxRows = 94, kExchangePitch = 40;

}  // namespace penstock
