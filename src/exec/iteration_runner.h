// SPDX-License-Identifier: Apache-2.0
// How an iteration goes through the steps of a plan: what the scheduler asks, and what steps ask that hand one over.
#pragma once
#include <vector>

#include "exec/admission.h"
#include "exec/error_policy.h"
#include "exec/late_samples.h"
#include "exec/scheduler.h"

namespace penstock {

class IterationRunner final : public JobWork, HandOver {
 public:
  IterationRunner(StepContext& context, const HostPool* pool) : admission(context, pool), context_(context) {}

  void begin(Scheduler& scheduler);            // makes the steps and begins the threads
  void end_steps();                            // and their decoders, when the threads have ended
  const Node* starving(const Job& job) const;  // the source that waits for a feed()

  Admission admission;
  std::vector<Worker> workers;  // by thread; the last one is the consumer's

 private:
  void begins(Job& job) override;
  bool next_step(Job& job) override;
  Room room_for(const Job& job, size_t position, bool wanted) override;
  void taken(Job& job) override;
  bool abandon(Job& job) override;
  bool runs_here(const Job& job) const override;
  void prepare(Job& job, int thread) override;
  void run(Job& job, int64_t first, int count, int thread) override;
  void finish(const std::shared_ptr<Job>& job, int thread) override;
  bool ask_for_room() override { return context_.outputs.ask(); }
  void slept(int64_t ns, bool blocked, int thread) override { context_.statistics.slept(thread, ns, blocked); }
  void stepped(Job& job) override;
  void hold(Iteration& it) override { scheduler_->hold(it); }
  void run_items(Iteration& it, int64_t items) override { scheduler_->run_items(it, items); }
  void step_done(const std::shared_ptr<Iteration>& it) override;

  StepRunner& current(const Job& job) const { return *steps_[job.step]; }
  void prepare_or_fail(Iteration& it, int thread);
  void run_samples(Iteration& it, int first, int count, int thread);
  void finish_step(Iteration& it, int thread);  // errors, and what it leaves
  void complete(const std::shared_ptr<Iteration>& it);

  StepContext& context_;
  std::vector<std::unique_ptr<StepRunner>> steps_;
  std::unique_ptr<ErrorPolicy> errors_;
  Scheduler* scheduler_ = nullptr;
};

}  // namespace penstock
