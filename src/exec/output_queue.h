// SPDX-License-Identifier: Apache-2.0
// What the user receives: finished iterations as they are, or cut anew into batches of one size.
#pragma once
#include <deque>

#include "exec/iteration_queue.h"
#include "exec/deliveries.h"

namespace penstock {

class OutputQueue {
 public:
  using Poll = JobConsumer::Poll;
  OutputQueue(const Plan& plan, const PipelineOptions& options, PipelineSources& sources, Statistics& statistics,
              IterationQueue& iterations);

  bool schedule(bool soon = false);  // soon: this thread calls outputs() next; see IterationQueue
  PipelineOutput outputs(const Poll& poll);
  void set_refill(int batch_size);                           // batches are cut anew, to this size
  int refill() const { return rebatch_; }                    // the size of batches that are cut anew; 0: they are not
  void begin_at_a_batch();                                   // which the sources do already; nothing is in flight
  void go_back();                                            // after the last batch that was returned
  bool at_end_of_epoch() const { return at_end_of_epoch_; }  // after the last outputs(), also one that has failed
  void reset(bool leave_epoch);                              // see Executor::reset()
  void replay(std::vector<DrawOrigin> origins);
  void log_steps() { logs_ = true; }

  ErrorBudget budget;
  Deliveries deliveries;

 private:
  // Samples that wait for a full batch: of one iteration.
  struct Part {
    PipelineOutput output;
    std::map<int, std::string> states;
    int at = 0;  // samples before it are handed out
    int left() const { return static_cast<int>(output.origin.size()) - at; }
  };

  void check_refill() const;
  // Adds what it has lost to `left_out`.
  std::shared_ptr<Iteration> next_finished(const Poll& poll, std::vector<LeftOut>& left_out);
  void replace_skipped();
  void add_outputs(PipelineOutput& out, Iteration& it);
  void hand_out(const PipelineOutput& out);
  PipelineOutput refilled(const Poll& poll);

  const Plan& plan_;
  const PipelineOptions& options_;
  PipelineSources& sources_;
  Statistics& statistics_;
  IterationQueue& iterations_;
  std::atomic<bool> logs_{false};
  bool at_end_of_epoch_ = false;
  int rebatch_ = 0;  // samples of a batch that is handed out; 0: those of an iteration
  std::deque<Part> parts_;
  int64_t delivered_ = 0;  // batches that were handed out
};

}  // namespace penstock
