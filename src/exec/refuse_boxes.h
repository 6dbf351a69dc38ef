// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/machine/stage_program.h"

namespace penstock {

// Throws where an operator of images would take rows of 4 numbers, without a layout, for one: they are boxes. `taken`:
// the layout that the operator takes the input for.
void refuse_boxes(const OpInfo& info, const Batch& input, const Layout& taken);
void refuse_boxes(const StageProgram& program, int input, const Batch& given);

}  // namespace penstock
