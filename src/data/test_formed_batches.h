// SPDX-License-Identifier: Apache-2.0
// What tests of all kinds of batches that readers form ask.
#pragma once
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "data/formed_batches.h"

namespace penstock::test {

// Each repetition of each batch gives its samples ids of their own.
inline void expect_ids_of_repetitions(const FormedBatches& b, int64_t repetitions) {
  std::set<int64_t> ids;
  size_t count = 0;
  for (int64_t repetition = 0; repetition < repetitions; ++repetition)
    for (int64_t k = 0; k < b.batches(); ++k) {
      std::vector<OrderedSample> out;
      if (repetition == 0) b.append(5, 1, true, {k, k, false}, out);
      else b.append(5, 1, true, {k, b.batches() - 1 + repetition, true}, out);
      count += out.size();
      for (const auto& s : out) {
        ids.insert(s.position);
        EXPECT_EQ(s.repeated, repetition > 0);
      }
    }
  EXPECT_EQ(ids.size(), count);
}

}  // namespace penstock::test
