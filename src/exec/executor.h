// SPDX-License-Identifier: Apache-2.0
// Runs a plan: its iterations are the jobs of a scheduler.
#pragma once
#include <deque>

#include "exec/error_policy.h"
#include "exec/gpu_room.h"
#include "exec/job_consumer.h"
#include "exec/pipeline.h"
#include "exec/plan_options.h"
#include "readers/index_setting.h"

namespace penstock {

class Executor final : JobWork, HandOver {
 public:
  Executor(Graph graph, PipelineOptions options);
  ~Executor() override;

  // soon: this thread calls outputs() next, and may do then what another one had to be woken for.
  void schedule(bool soon = false);
  PipelineOutput outputs(const std::function<void()>& poll);
  Source& source(int node) { return sources.at(node); }
  Source* source_or_null(int node) { return sources.find(node); }
  void set_callback(int node, std::shared_ptr<Callback> callback) { callbacks.set(node, std::move(callback)); }
  void set_refill(int batch_size);  // batches are cut anew, to this size
  int in_flight();
  // Throws where the calling thread is in a function of the program that this executor, or one that waits for it,
  // calls: it would wait for itself.
  void check_caller() const { consumer_.check_caller(); }
  bool stop_within(std::chrono::milliseconds patience);  // see Pipeline::stop()
  void add_index_statistics(PipelineStatistics& s) const;
  bool forked() const;  // this is a child of the process that made the executor
  // leave_epoch: in the middle of one, whose rest nobody wants.
  void reset(bool leave_epoch, const std::function<void()>& poll);
  int64_t device_bytes_in_use() const;                       // that the decoders have taken for themselves included
  bool at_end_of_epoch() const { return at_end_of_epoch_; }  // after the last outputs(), also one that has failed
  std::string checkpoint() const;
  void restore(const std::string& state);
  void replay(std::vector<DrawOrigin> origins);
  void log_steps() { logs_steps_ = true; }

  Graph graph;
  PipelineOptions options;
  Engines engines;  // until a step has them
  Plan plan;
  Statistics statistics;
  ErrorBudget budget;
  HostPool* pool = nullptr;  // where memory is a pool of our own
  PipelineSources sources;
  const int primary = sources.primary();  // node whose samples give the ids
  Callbacks callbacks{graph};
  int depth = 1;  // iterations that are in flight at most: the prefetch, or more where a decoder wants them

 private:
  // Samples that wait for a full batch: of one iteration.
  struct Part {
    PipelineOutput output;
    std::map<int, std::string> states;
    int at = 0;  // samples before it are handed out
    int left() const { return static_cast<int>(output.origin.size()) - at; }
  };

  void check_refill() const;
  void find_rebatch();  // exec/executor_outputs.cpp
  void find_first_states();
  // Adds what it has lost to `left_out`.
  std::shared_ptr<Iteration> next_finished(const std::function<void()>& poll, std::vector<LeftOut>& left_out);
  void replace_skipped();
  bool ends_epoch(const Iteration& it) const;
  void add_outputs(PipelineOutput& out, Iteration& it);
  void hand_out(const PipelineOutput& out);
  PipelineOutput refilled(const std::function<void()>& poll);
  void open_gpu();
  void open_index();
  void begin_threads();
  void ask_to_stop();
  void stop();
  void check_process() const;
  const Node* starving(const Job& job) const;  // the source that waits for a feed()

  // JobWork: exec/executor_steps.cpp
  void begins(Job& job) override;
  bool next_step(Job& job) override;
  Room room_for(const Job& job, size_t position, bool wanted) override;
  void taken(Job& job) override;
  bool runs_here(const Job& job) const override;
  void prepare(Job& job, int thread) override;
  void run(Job& job, int64_t first, int count, int thread) override;
  void finish(const std::shared_ptr<Job>& job, int thread) override;
  bool ask_for_room() override { return outputs_.ask(); }
  void slept(int64_t ns, bool blocked) override;
  // HandOver
  void hold(Iteration& it) override { scheduler_.hold(it); }
  void run_items(Iteration& it, int64_t items) override { scheduler_.run_items(it, items); }
  void step_done(const std::shared_ptr<Iteration>& it) override;

  StepRunner& current(const Job& job) const { return *steps_[job.step]; }
  void set_step(Job& job, size_t step) const;
  bool ends(const Iteration& it) const;  // with the current step
  size_t bytes_in_use() const;
  void prepare_step(Iteration& it, int thread);
  void prepare_or_fail(Iteration& it, int thread);
  void run_samples(Iteration& it, int first, int count, int thread);
  void finish_step(Iteration& it, int thread);  // errors, and what it leaves
  void settle_errors(Iteration& it, int thread);
  void release_values(Iteration& it);  // that no later step reads
  void complete(const std::shared_ptr<Iteration>& it);

  IndexSetting indexes_;
  std::vector<Worker> workers_;  // by thread; the last one is the consumer's
  std::vector<int> lanes_;       // by step: of the threads that prepare it
  Scheduler scheduler_{*this, options.threads};
  JobConsumer consumer_{scheduler_, options.threads};
  OutputMemory outputs_{options, [this] { scheduler_.look_again(); }};
  bool at_end_of_epoch_ = false;
  std::map<int, std::string> delivered_states_;  // before the first batch: those that the sources begin with
  int rebatch_ = 0;                              // samples of a batch that is handed out; 0: those of an iteration
  std::deque<Part> parts_;
  int resumed_ = 0;        // as skip_, of a checkpoint, until that iteration comes
  int skip_ = 0;           // samples of the iteration behind delivered_states_ that are handed out
  int64_t delivered_ = 0;  // batches that were handed out
  std::atomic<bool> logs_steps_{false};
  int process_ = 0;
  std::unique_ptr<GpuRoom> gpu_room_;
  std::unique_ptr<GpuWork> gpu_;  // where a step needs one
  std::unique_ptr<StepContext> context_;
  std::vector<std::unique_ptr<StepRunner>> steps_;
  std::unique_ptr<ErrorPolicy> errors_;
};

}  // namespace penstock
