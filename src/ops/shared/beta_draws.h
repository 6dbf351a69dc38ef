// SPDX-License-Identifier: Apache-2.0
// Beta distributed numbers on the host: attempts of many elements together, in loops for each processor target. They
// are the numbers of the rule in random_beta.cpp.
#pragma once
#include "batch/batch.h"
#include "pixel/gamma.h"
#include "pixel/philox.h"

namespace penstock {

// Fills a dense view of float32 or float64.
void draw_betas(const View& out, const RandomStream& stream, const BetaShapes& shapes);

}  // namespace penstock
