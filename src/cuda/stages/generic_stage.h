// SPDX-License-Identifier: Apache-2.0
// One kernel that runs any stage: it reads the stage's instructions from the table and interprets them with the same
// functions that emitted kernels use, and so gives the same bits. It is compiled with the library and runs while a
// stage's own kernel is not ready, or if it cannot be compiled. Slow: one thread per position, values in local memory.
#pragma once
#include <optional>
#include <span>

#include "cuda/kernels/generic_program.h"
#include "cuda/stages/stage_pack.h"

namespace penstock {

const std::string& generic_stage_text();

// The variant whose table the generic kernel reads, of entries that `v` suits as well. Empty if it has no room.
std::optional<StageVariant> generic_variant(const StageCode& code, const StageVariant& v,
                                            std::span<const StageEntry> entries);
// Call it after pack_table() with that variant.
void append_generic_program(const StageCode& code, const StageVariant& v, TableWriter& table);

// The number of a pixel function in the text and the program; -1: it has none.
int generic_operator(const OpInfo* info, Lane lane);

}  // namespace penstock
