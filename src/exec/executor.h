// SPDX-License-Identifier: Apache-2.0
// Threads that run the steps of several iterations: samples of a batch in parallel, the oldest iteration first.
#pragma once
#include <condition_variable>
#include <deque>
#include <set>
#include <thread>

#include "base/crew.h"
#include "exec/error_policy.h"
#include "exec/pipeline.h"
#include "readers/index_setting.h"

namespace penstock {

class Executor final : HandOver {
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
  void check_caller() const;
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

  // What the calling thread serves.
  struct Serving {
    const Executor* executor;
    int lane;
  };
  static constinit thread_local Serving serving;

  Graph graph;
  PipelineOptions options;
  std::map<int, std::unique_ptr<BatchDecoder>> engines;  // by node that a GPU decodes for, until a step has it
  Plan plan;
  Statistics statistics;
  ErrorBudget budget;
  HostPool* pool = nullptr;  // where memory is a pool of our own
  PipelineSources sources;
  const int primary = sources.primary();  // node whose samples give the ids
  Callbacks callbacks{graph};
  int depth = 1;  // iterations that are in flight at most: the prefetch, or more where a decoder wants them

 private:
  static constexpr int kAnyStep = -1;   // the lane of the threads that run all steps but those with a lane of their own
  static constexpr int kNobody = -2;    // no lane
  static constexpr int kConsumer = -3;  // a thread in outputs()
  struct Task {
    std::shared_ptr<Iteration> iteration;
    bool prepare = false;
    int64_t item = 0;
    int count = 1;
  };

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
  void ask_to_stop();
  void stop();
  void begin_thread_of(int thread, int lane);
  const Node* starving(const Iteration& it) const;  // under mutex_: the source that waits for a feed()
  // Waits on ready_ until done(), with poll() called now and then without the lock.
  void wait_for_consumer(std::unique_lock<std::mutex>& lock, const std::function<void()>& poll,
                         const std::function<bool()>& done);
  void check_process() const;
  void serve(int thread, int lane = kAnyStep);
  bool find_task(Task& task, int lane, const Iteration* last);  // under mutex_; `last`: of this thread, or null
  bool take_prepare(Task& task, size_t position);               // under mutex_: of a step that nobody has prepared
  void perform(Task& task, int thread, std::unique_lock<std::mutex>& lock);  // locks it
  bool gpu_is_full(const Iteration& it, size_t position) const;
  bool may_prepare(const Iteration& it, size_t position);
  void prepare(Iteration& it, int thread);  // of the current step; sets items
  void prepare_or_fail(Iteration& it, int thread);
  void run_items(Iteration& it, int64_t first, int count, int thread);
  void open_index();
  StepRunner& current(const Iteration& it) const { return *steps_[it.step]; }
  void finish_step(Iteration& it, int thread);  // errors, then the next step
  void settle_errors(Iteration& it, int thread);
  void complete(const std::shared_ptr<Iteration>& it);  // the step: goes on, at once or when the device is there
  void hold(Iteration& it) override;
  void run_items(Iteration& it, int64_t items) override;
  void step_done(const std::shared_ptr<Iteration>& it) override;
  bool ends(const Iteration& it) const;  // with the current step
  // Whom a change of the queue concerns: a thread of a lane that is not the caller's own, all that wait for room, the
  // consumer. Each thread that changes something looks for a task itself, after it.
  struct Wake {
    int lane = kNobody;
    bool all = false, consumer = false;
  };
  void wake(const Wake& w);                               // best without mutex_: who wakes takes it
  Wake run_here(const std::shared_ptr<Iteration>& it);    // by the consumer; gives whom the rest concerns
  bool runs_here(const Iteration& it);                    // under mutex_: the current step
  void wake_for_room(Wake& w);                            // under mutex_: those that have found none
  Wake go_on(Iteration& it);                              // under mutex_: to the next step
  std::shared_ptr<DeviceEvent> leave_gpu(Iteration& it);  // after its last step: done when the device is
  int most_on_gpu() const { return depth + 1; }
  void look_for_room();  // on the device: what it has done makes some
  int lane_of(size_t step) const { return lanes_.empty() ? kAnyStep : lanes_[step]; }
  void start_callers();
  void release_values(Iteration& it);  // that no later step reads

  std::vector<int> lanes_;  // by step: of the threads that run it; empty: there are no others
  IndexSetting indexes_;
  std::vector<Worker> workers_;  // by thread; the last one is the consumer's
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  Crew crew_{[this] {
    {
      std::lock_guard lock(mutex_);
    }  // who has found no task sleeps by now
    work_.notify_all();
  }};
  std::condition_variable work_, ready_, ended_;
  int running_ = 0, calling_ = 0;  // threads that have not ended, and those of them that call the program's functions
  std::atomic<const Executor*> waits_in_{nullptr};  // whose function the consumer is in, while it waits here
  std::deque<std::condition_variable> lane_work_;   // by lane
  bool starved_ = false;                            // a task was found that has to wait: for room, the device, its turn
  std::deque<std::shared_ptr<Iteration>> queue_;
  OutputMemory outputs_{options, [this] { work_.notify_all(); }};
  uint64_t next_number_ = 0;
  std::atomic<bool> stop_{false};  // set under mutex_; a thread that waits for remote storage looks at it
  bool consumer_waits_ = false;
  int held_ = kNobody;   // the lane that nobody has woken for the only iteration: outputs() comes soon
  std::mutex consumer_;  // held by the thread that does the consumer's share
  bool at_end_of_epoch_ = false;
  std::map<int, std::string> delivered_states_;  // before the first batch: those that the sources begin with
  int rebatch_ = 0;                              // samples of a batch that is handed out; 0: those of an iteration
  std::deque<Part> parts_;
  int resumed_ = 0;        // as skip_, of a checkpoint, until that iteration comes
  int skip_ = 0;           // samples of the iteration behind delivered_states_ that are handed out
  int64_t delivered_ = 0;  // batches that were handed out
  std::atomic<bool> logs_steps_{false};
  int process_ = 0;
  bool watched_ = false;  // a thread looks now and then whether a blocked iteration may go on
  int on_gpu_ = 0;        // iterations whose device work is not known to be done
  struct Leaving {
    uint64_t number;
    StreamHandle stream;
    std::shared_ptr<DeviceEvent> done;  // null: nothing to wait for
    bool asked = false;                 // the device tells when it is done
  };
  std::vector<Leaving> leaving_;  // those of on_gpu_ for which nothing more is enqueued
  std::unique_ptr<GpuWork> gpu_;  // where a step needs one
  bool decodes_ = false;          // on the GPU: a decoder may wait for memory
  size_t read_ahead_bytes_ = 0;   // of the GPU, beyond which iterations after the prefetch begin no decoding
  std::unique_ptr<StepContext> context_;
  std::vector<std::unique_ptr<StepRunner>> steps_;
  std::unique_ptr<ErrorPolicy> errors_;
};

}  // namespace penstock
