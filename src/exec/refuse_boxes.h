// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "stage/program.h"

namespace penstock {

// Throws if an image operator would accept rows of 4 numbers without a layout as an image: they are boxes. `taken`:
// the layout that the operator assumes for the input.
void refuse_boxes(const OpInfo& info, const Batch& input, const Layout& taken);
void refuse_boxes(const StageProgram& program, int input, const Batch& given);

}  // namespace penstock
