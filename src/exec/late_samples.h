// SPDX-License-Identifier: Apache-2.0
// late="swap" (docs/decisions/0045): what the sources give is divided into iterations of a few samples, and batches are
// formed of those that are ready first. Batches of an epoch have its samples only.
#pragma once
#include <atomic>
#include <deque>
#include <map>
#include <mutex>

#include "exec/delivered_samples.h"
#include "exec/gathered_samples.h"
#include "exec/late_batches.h"
#include "exec/late_plan.h"
#include "exec/scheduler.h"

namespace penstock {

class LateSamples {
 public:
  // Error (argument) where the pipeline has something that makes no sense with late samples.
  explicit LateSamples(const StepContext& context);

  size_t begin(Iteration& it) const;                    // gives the first step of a part
  size_t next(const Iteration& it, size_t step) const;  // after this one; the number of steps: none
  const GatheredSamples& gathered() const { return gathered_; }
  bool keeps(ValueRef v) const { return plan_.crossing.count(v) > 0; }  // whole batches need it

  // Whether another batch of the sources would be in place; if so, it counts as in flight. needed: else none is formed.
  bool ask_for_one(bool needed);
  // Iterations, but batches, that have ended; what follows from them is added to the scheduler.
  void ended(const std::shared_ptr<Iteration>& it, Scheduler& scheduler);
  void taken(const Iteration& batch);  // the user has it
  void clear();                        // nothing is in flight, and nobody wants what there is

  DeliveredSamples delivered;

 private:
  using Jobs = std::vector<std::shared_ptr<Job>>;
  struct Epoch {
    uint64_t key = 0;
    int out = 0;          // samples that no iteration has ended with
    bool closed = false;  // no more come
    bool cut = false;     // its last batch says that it ends
    std::deque<ReadySample> ready;
    std::vector<std::shared_ptr<Iteration>> failed;  // that the user does not know of yet
  };

  void divide(Iteration& it, Jobs& made);
  void close_epoch();
  Epoch& epoch_of(uint64_t key);
  void receive(const std::shared_ptr<Iteration>& it);
  void form(Jobs& made);

  const StepContext& context_;
  const LatePlan plan_;
  const GatheredSamples gathered_;
  const int together_, margin_;  // samples of an iteration; that may be late beside what is made ahead

  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Iteration>> brought_;  // that come before an earlier one
  uint64_t next_ = 0;
  std::deque<Epoch> epochs_;
  uint64_t epochs_cut_ = 0;
  bool ends_ = false;  // the data; the user has to be told
  LateBatches batches_{context_};
  std::atomic<int64_t> in_flight_{0};  // samples
  bool checked_ = false;               // what the program feeds
};

}  // namespace penstock
