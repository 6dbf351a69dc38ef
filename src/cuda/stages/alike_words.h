// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cuda/stages/stage_sample.h"
#include "stage/sample_form.h"

namespace penstock {

// Writes the sample's numbers over those of its form, in the words of a tiled kernel's entry.
void put_alike(const AlikeSample& sample, const EntryLayout& at, int dims, int64_t* words);

}  // namespace penstock
