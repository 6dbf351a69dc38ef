// SPDX-License-Identifier: Apache-2.0
// Groups of samples (row groups, compressed shards) that a thread decodes while it waits for the one that it needs.
#pragma once
#include <algorithm>
#include <vector>

#include "data/group_order.h"
#include "readers/reader_source.h"

namespace penstock {

class LaterGroups {
 public:
  // most: how many stay in memory beside the group of a sample.
  LaterGroups(const ReaderOptions& o, size_t most)
      : successive_(o.bucket_by.empty() && o.lengths.empty() && (o.deal == "sample" || o.num_shards == 1)),
        most_(most) {}

  // Groups that a source of so many groups needs after that of sample i, soonest first. group_of(index): that of a
  // sample; order: null where the groups follow one another.
  template <class F>
  std::vector<int> after(const SourceBatch& batch, int i, int count, const GroupOrder* order, F&& group_of) const {
    const int own = group_of(batch.indices[i]);
    int last = own;
    std::vector<int> groups;
    const auto add = [&](int group) {
      if (group != own && groups.size() < most_ && std::find(groups.begin(), groups.end(), group) == groups.end())
        groups.push_back(group);
    };
    for (size_t k = static_cast<size_t>(i) + 1; k < batch.indices.size() && groups.size() < most_; ++k)
      add(last = group_of(batch.indices[k]));
    if (!successive_) return groups;
    if (!order) {
      for (int group = last + 1; group < count && groups.size() < most_; ++group) add(group);
    } else if (!batch.origin.empty()) {
      for (const int group : order->near(batch.origin.back().epoch, last)) add(group);
    }
    return groups;
  }

 private:
  bool successive_;  // a batch continues the order where the one before it ended
  size_t most_;
};

}  // namespace penstock
