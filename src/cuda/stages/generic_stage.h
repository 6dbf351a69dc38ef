// SPDX-License-Identifier: Apache-2.0
// One kernel that runs any stage: it reads the stage's instructions from the table and interprets them, with the
// functions that emitted kernels are written with, and so gives their bits. It is compiled with the library and runs
// where a stage's own kernel is not there yet, or cannot be. Slow: one thread a position, values in local memory.
#pragma once
#include <optional>
#include <span>

#include "cuda/stages/stage_pack.h"
#include "pixel/host_device.h"

namespace penstock {

// What it reads behind the table's entries: a program and its steps.
PENSTOCK_TEXT(
    generic_program_text, constexpr int kGenericSlots = 8;  // values of a position at a time
    constexpr int kGenericPlanes = 4;                       // of those planes that are kept at once
    constexpr int kGenericAxes = 3;                         // filtered dimensions
    struct GenericStep {
      int32_t kind;             // Instruction::Kind: load, tile, round, convert
      int32_t to, from[3];      // slots; of a load the input; from[1] -1 of two operands: the other is a constant
      int32_t lane, from_lane;  // Lane
      int32_t dtype;            // DType of a load or round
      int32_t op;               // number of the pixel function
      int32_t coef, coef_step;  // bytes to its coefficients, and from those of a plane to the next
      int32_t faults;
      int32_t planes_before, planes;  // 0: as many as are at hand
    };
    struct GenericProgram {
      int32_t steps, kind;  // kind: 0 loads, 1 taps, 2 an affine map
      int32_t inputs, in_dtype[4], in_size[4], out_dtype, out_size;
      int32_t copies;  // elements of input 0 become the output's as they are
      int32_t dims, planes, out_planes, chunked;
      int32_t source, source_lane, result, result_lane;  // slots and lanes
      int32_t axes, axis_dim[3], vertical, warp_dim[3];  // dimensions; -1: none
      int32_t in_integers;                               // an affine map: of bytes that become bytes again
      int32_t has_plane, fills, picks_planes;
      int32_t words, at_in, at_out, at_positions, at_coefs, at_fill, at_fault, at_indexed, at_pick,
          at_plane;  // EntryLayout
      int32_t at_dims, dim_words, at_axes, at_affine;
    };);

const std::string& generic_stage_text();

// The variant whose table the generic kernel reads, of entries that `v` suits together. Nothing where it has no room.
std::optional<StageVariant> generic_variant(const StageCode& code, const StageVariant& v,
                                            std::span<const StageEntry> entries);
// Behind pack_table() with that variant.
void append_generic_program(const StageCode& code, const StageVariant& v, TableWriter& table);

// Pixel functions by number: what the text calls and the program names. -1: none.
int generic_operator(const OpInfo* info, Lane lane);

}  // namespace penstock
