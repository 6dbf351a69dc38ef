// SPDX-License-Identifier: Apache-2.0
// Conversion of dense arrays between the types that images have, as `cast` does it.
#pragma once
#include "batch/batch.h"

namespace penstock {

// Returns false, and writes nothing, for other types and for arrays with holes.
bool convert_dense(const View& from, const View& to);

}  // namespace penstock
