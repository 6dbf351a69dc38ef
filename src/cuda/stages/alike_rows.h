// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cuda/kernels/stage_row.h"
#include "stage/sample_form.h"

namespace penstock {

// Writes the sample's numbers over those of its form, in the row of a tiled kernel.
void put_alike(const AlikeSample& sample, const StageRow<std::byte>& row);

}  // namespace penstock
