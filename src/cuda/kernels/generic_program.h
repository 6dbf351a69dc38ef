// SPDX-License-Identifier: Apache-2.0
// The data after the entries of a table that the generic kernel reads: a program and its steps, for host and device.
#pragma once
#include "cuda/kernels/stage_row.h"

namespace penstock {

constexpr int kGenericSlots = 8;   // values of a position at a time
constexpr int kGenericPlanes = 4;  // number of those planes that are kept at once
constexpr int kGenericAxes = 3;    // filtered dimensions
struct GenericStep {
  int32_t kind;             // Instruction::Kind: load, tile, round, convert
  int32_t to, from[3];      // slots; for a load the input; from[1] is -1 for two operands: the other is a constant
  int32_t lane, from_lane;  // Lane
  int32_t dtype;            // DType of a load or round
  int32_t op;               // number of the pixel function
  int32_t coef, coef_step;  // offset in bytes of its coefficients, and the step from one plane to the next
  int32_t faults;
  int32_t planes_before, planes;  // 0: as many as are available
};
struct GenericProgram {
  int32_t steps, kind;  // kind: 0 loads, 1 taps, 2 an affine map
  int32_t inputs, in_dtype[4], in_size[4], out_dtype, out_size;
  int32_t copies;  // elements of input 0 become the output's unchanged
  int32_t dims, planes, out_planes, chunked;
  int32_t source, source_lane, result, result_lane;  // slots and lanes
  int32_t axes, axis_dim[3], vertical, warp_dim[3];  // dimensions; -1: none
  int32_t in_integers;                               // an affine map: from bytes that become bytes again
  int32_t has_plane, fills, picks_planes;
  RowLayout row;
};
static_assert(sizeof(GenericStep) == 14 * 4 && sizeof(GenericProgram) == 39 * 4);

}  // namespace penstock
