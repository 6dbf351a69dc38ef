// SPDX-License-Identifier: Apache-2.0
// Operators whose result for a sample may depend on the other samples of its batch.
#pragma once
#include <string>

namespace penstock {

// Where shapes need all samples at once is another question (OpInfo::batch_wide).
bool mixes_samples(const std::string& op);

}  // namespace penstock
