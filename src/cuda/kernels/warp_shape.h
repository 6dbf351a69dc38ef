// SPDX-License-Identifier: Apache-2.0
// How the outputs of an affine map of images are shared: host and device agree.
#pragma once

namespace penstock {

// A thread takes kWarpGroup outputs, 32 threads kWarpAcross * kWarpGroup of several rows.
constexpr int kWarpGroup = 4, kWarpAcross = 8, kWarpDown = 32 / kWarpAcross;
constexpr int kWarpStack = 8;  // warps of a block, one below the other
// Outputs of a block each way where the box of the source that they read lies in shared memory, pixels as words; room
// for its pixels. Rows that are neither too short nor a multiple of the banks: 8 x 4 neighbors lie in different ones.
constexpr int kBoxTile = 64, kBoxPitch = 104, kBoxRows = 94;
// The pitch of rows of outputs that a warp's threads exchange: 4 x 8 of them lie in different banks, if they are words
// or three of them.
constexpr int kExchangePitch = kWarpAcross * kWarpGroup + kWarpAcross;

}  // namespace penstock
