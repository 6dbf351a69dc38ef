// SPDX-License-Identifier: Apache-2.0
#include "graph/batch_operators.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace penstock {

static bool is_one_of(const std::string& op, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

bool mixes_samples(const std::string& op) {
  return is_one_of(op, {"multi_paste", "normalize", "one_hot", "pad", "permute_batch"});
}

bool takes_from_batch(const std::string& op) {
  return is_one_of(op, {"batch_permutation", "multi_paste", "permute_batch"});
}

bool fits_to_batch(const std::string& op) { return is_one_of(op, {"one_hot", "pad"}); }

}  // namespace penstock
