// SPDX-License-Identifier: Apache-2.0
#include "graph/batch_operators.h"

#include <algorithm>
#include <string_view>

namespace penstock {

bool mixes_samples(const std::string& op) {
  constexpr std::string_view mixing[] = {"multi_paste", "normalize", "one_hot", "pad", "permute_batch"};
  return std::find(std::begin(mixing), std::end(mixing), op) != std::end(mixing);
}

}  // namespace penstock
