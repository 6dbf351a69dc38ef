// SPDX-License-Identifier: Apache-2.0
// Operators whose result for a sample may depend on the other samples of its batch.
#pragma once
#include <string>

namespace penstock {

// Where shapes need all samples at once is another question (OpInfo::batch_wide).
bool mixes_samples(const std::string& op);
// Of them and beside them: those whose values come from other samples, in any order of the batch; and those that only
// make samples as large as the batch needs.
bool takes_from_batch(const std::string& op);
bool fits_to_batch(const std::string& op);

}  // namespace penstock
