// SPDX-License-Identifier: Apache-2.0
// Which samples the user has received, where batches have them in another order than the sources: what a checkpoint
// says of it. Any thread may call any member.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/late_part.h"

namespace penstock {

class DeliveredSamples {
 public:
  using States = std::map<int, std::string>;  // of the sources, by node
  using Range = std::pair<int, int>;          // the first sample and the last one

  // Sources have given samples to iteration `number`, larger than those before, and are in these states after it. Gives
  // for each sample whether the user has it: by the checkpoint that the pipeline resumed from.
  std::vector<char> brought(uint64_t number, int samples, uint64_t last_epoch, States states);
  // Gives the states after the last iteration before which no sample is out, where they have changed.
  std::optional<States> deliver(std::span<const BroughtSample> samples);
  // After the furthest sample that was delivered; none: none was, or a sample of its epoch did not come with it.
  std::optional<States> furthest() const;
  void clear();

  // Those that were delivered after these states, by iteration.
  std::vector<std::vector<Range>> list() const;
  void resume(std::vector<std::vector<Range>> delivered);  // before the first call of brought()
  int64_t resumed() const { return count_; }               // samples that were delivered then

 private:
  struct Record {
    std::shared_ptr<const States> before, after;
    std::vector<char> delivered;
    int left = 0;
    uint64_t last_epoch = 0;
  };

  mutable std::mutex mutex_;
  std::map<uint64_t, Record> records_;  // from the first iteration on of which a sample is out
  std::deque<std::vector<Range>> resumed_;
  std::shared_ptr<const States> last_, furthest_;
  uint64_t furthest_number_ = 0;
  int64_t count_ = 0;
};

}  // namespace penstock
