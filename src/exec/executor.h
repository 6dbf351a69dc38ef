// SPDX-License-Identifier: Apache-2.0
// Threads that run the steps of several iterations: samples of a batch in parallel, the oldest iteration first.
#pragma once
#include <condition_variable>
#include <deque>
#include <set>
#include <thread>

#include "base/crew.h"
#include "cpu/stage.h"
#include "exec/callback.h"
#include "exec/group_decoder.h"
#include "exec/pipeline.h"
#include "readers/direct_memory.h"
#include "readers/index_setting.h"

namespace penstock {

// Counts iterations whose output memory is alive, in the pipeline or in the user's hands. Outlives the pipeline.
struct OutputSlots {
  std::mutex mutex;
  std::condition_variable* wake = nullptr;  // of the executor while it lives
  std::atomic<bool> wanted{false};          // somebody waits for memory
  int alive = 0;
};

class Executor {
 public:
  Executor(Graph graph, PipelineOptions options);
  ~Executor();

  // soon: this thread calls outputs() next, and may do then what another one had to be woken for.
  bool schedule(bool soon = false);  // false: where batches were listed, all of them are in flight or taken
  PipelineOutput outputs(const std::function<void()>& poll);
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
  void find_first_states();  // before the first run: what a checkpoint has of the sources
  void seek(uint64_t epoch, int64_t batch, bool replay, const std::function<void()>& poll);  // exec/seek.cpp
  void schedule_batches(uint64_t epoch, std::span<const int64_t> batches);
  int64_t device_bytes_in_use() const;                       // that the decoders have taken for themselves included
  bool at_end_of_epoch() const { return at_end_of_epoch_; }  // after the last outputs(), also one that has failed
  Source& source(int node) { return *sources_.at(node); }
  Source* source_or_null(int node);
  void set_callback(int node, std::shared_ptr<Callback> callback);
  std::string checkpoint() const;
  void restore(const std::string& state);
  void replay(std::vector<DrawOrigin> origins);  // exec/executor_draws.cpp
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
  int primary = -1;          // node whose samples give the ids
  int depth = 1;             // iterations that are in flight at most: the prefetch, or more where a decoder wants them

 private:
  struct StageState;
  struct WholeState;
  struct TransferState;
  struct DecodeState;
  struct CallState;
  static constexpr int kAnyStep = -1;   // the lane of the threads that run all steps but those with a lane of their own
  static constexpr int kNobody = -2;    // no lane
  static constexpr int kConsumer = -3;  // a thread in outputs()
  static constexpr int kMostTogether = 2;  // samples that a thread takes at once
  struct Worker {
    std::unique_ptr<CpuScratch> scratch;
    std::vector<uint8_t> file[kMostTogether];
    std::unique_ptr<RecordIndexAccess> index[kMostTogether];  // where there is a store
  };
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

  // exec/seek.cpp
  std::optional<Error> why_content_decides() const;  // where a batch begins; none: its number does
  void check_place(uint64_t epoch, int64_t batch) const;
  BatchPlace place_of(uint64_t epoch, int64_t batch) const;
  void begin_with(uint64_t epoch, int64_t batch, bool follows);
  void seek_sources(const BatchPlace& place, bool follows);
  void begin_at(uint64_t position);  // a pipeline without sources
  void go_back();                    // after the last batch that was returned
  void drop_in_flight();
  void let_go(std::unique_lock<std::mutex>& lock, const std::function<void()>& poll);  // of all that is in the queue
  void end_soon(std::vector<std::shared_ptr<Iteration>>& ended);                       // under mutex_

  void check_refill() const;
  void find_rebatch();  // exec/executor_outputs.cpp
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
  void open_direct();  // readers and reads that go straight to the GPU
  void prepare_read(Iteration& it, const Step& s);
  void read_item(Iteration& it, int i);
  void open_index();
  bool has_record(ValueRef encoded) const;  // bytes that are files of a reader
  const std::string& path_of(const Iteration& it, ValueRef encoded, int i) const;
  void name_sample(const Iteration& it, int i, Error& e) const;
  void load_items(Iteration& it, int first, int count);
  void fill_batch(Iteration& it);  // a pipeline without sources makes full batches
  void run_whole_item(Iteration& it, int i);
  void run_stage_items(Iteration& it, int first, int count, Worker& worker, int64_t& read_ns);
  void add_error(Iteration& it, int i, Error e);
  void finish_step(Iteration& it, int thread);          // errors, then the next step
  void complete(const std::shared_ptr<Iteration>& it);  // the step: goes on, at once or when the device is there
  bool ends(const Iteration& it) const;                 // with the current step
  // Whom a change of the queue concerns: a thread of a lane that is not the caller's own, all that wait for room, the
  // consumer. Each thread that changes something looks for a task itself, behind it.
  struct Wake {
    int lane = kNobody;
    bool all = false, consumer = false;
  };
  void wake(const Wake& w);                               // best without mutex_: who wakes takes it
  Wake run_here(const std::shared_ptr<Iteration>& it);    // by the consumer; gives whom the rest concerns
  bool runs_here(const Iteration& it);                    // under mutex_: the current step
  void wake_for_room(Wake& w);                            // under mutex_: those that have found none
  Wake go_on(Iteration& it);                              // under mutex_: to the next step
  std::shared_ptr<DeviceEvent> leave_gpu(Iteration& it);  // behind its last step: done when the device is
  int most_on_gpu() const { return depth + 1; }
  void look_for_room();  // on the device: what it has done makes some
  void settle_errors(Iteration& it, int thread);
  // Puts a source's values into its batch as long as this lives; else they are among the iteration's. While the
  // source's step runs they are in the batch anyway.
  struct Lent;
  bool loads_samples(int node) const { return get_op(graph.node(node).op).loads_samples; }
  void finish_source(Iteration& it, int node);
  void bring_back_given(Iteration& it);  // of the primary source, where it was let go of
  bool computed_before(const Iteration& it) const;
  void begin_again(Iteration& it);
  void drop_samples(Iteration& it, std::vector<int> gone);
  void drop_children(Iteration& it, int domain, size_t depth, const std::vector<int>& gone);
  void replace_samples(Iteration& it, std::vector<SampleError>& errors, int thread);
  int given_sample(const Iteration& it, int i) const;
  bool find_other(Iteration& it, int i, uint32_t attempt);  // for a sample of the primary source
  void load_sample(Iteration& it, int node, int i);
  static void take_values(Iteration& it, int node);  // that are in the batch of a source
  void unwind(Iteration& it);
  void prepare_source(Iteration& it, const Step& s);
  bool catch_up(Source& source, const Iteration& it, int node);
  void prepare_whole(Iteration& it, const Step& s);
  void prepare_stage(Iteration& it, const Step& s);
  void find_stages_of_numbers();                                        // exec/executor_numbers.cpp
  bool run_numbers(Iteration& it, const Step& s, CpuScratch& scratch);  // false: it is no such stage
  void reuse_memory(Iteration& it, const Batch& from, Batch& out);
  bool has_constant_arguments(const Step&) const;  // a stage of this step serves all iterations
  static bool fits(const StageProgram& program, std::span<const ValueType> types);  // ... whose inputs are like these
  StageProgram program_of(Iteration& it, const Step& s, std::vector<ValueType> inputs,
                          const std::vector<ValueRef>& sizes);
  std::vector<ValueRef> size_outputs(const Step& s) const;
  void prepare_gpu_stage(Iteration& it, const Step& s);
  void run_gpu_stage_on_host(Iteration& it, const Step& s, StageProgram program, BatchStageCall& call,
                             std::span<Batch> outputs, std::vector<SampleError>& errors);
  Batch to_host(Iteration& it, const Batch& from, bool output);
  void move_some(Iteration& it, const Step& s, const Batch& from);
  void prepare_transfer(Iteration& it, const Step& s);
  void warn_of_transfer(const Iteration& it, const Step& s, size_t bytes);
  void finish_transfer(Iteration& it);
  Batch to_gpu(Iteration& it, const Batch& from, bool output);
  void run_transfer_item(Iteration& it, int i);
  void prepare_control(Iteration& it, const Step& s);  // exec/executor_flow.cpp
  void begin_branch(Iteration& it, const Step& s);
  void begin_else(Iteration& it, const Step& s);
  void end_branch(Iteration& it, const Step& s);
  Batch merged_sides(Iteration& it, const Frame& f, size_t k, const Batch& then, const Batch& otherwise,
                     std::map<int, std::vector<std::pair<bool, int>>>& lists);
  int side_domain(const Node& n, size_t k, bool of_then) const;
  void begin_loop(Iteration& it, const Step& s);
  void begin_trip(Iteration& it, int end);  // of samples that have another one; none: jumps to `end`
  void test_loop(Iteration& it, const Step& s);
  void repeat_loop(Iteration& it, const Step& s);
  void end_loop(Iteration& it);
  void change_samples(Iteration& it, const Step& s);  // exec/executor_domains.cpp
  void use_domain(Iteration& it, int domain);
  void enter(Iteration& it, const Step& s, std::vector<int> chosen);
  void leave(Iteration& it);
  void stay_in_loop(Iteration& it, const std::vector<int>& stay);
  std::shared_ptr<Callback> callback_of(const Node& n);  // exec/executor_call.cpp
  int lane_of(size_t step) const;
  void start_callers();
  void prepare_call(Iteration& it, const Step& s);
  void place_call_output(Iteration& it, Batch& b);
  void run_call_item(Iteration& it, int i);
  void prepare_decode(Iteration& it, const Step& s);
  void run_decode_items(Iteration& it, int first, int count, int64_t& read_ns);
  void decode_sample(Iteration& it, DecodeState& state, int i, int64_t& read_ns);
  Region region_of(Iteration& it, const DecodeState& state, int i) const;
  void upload(Iteration& it, DecodeState& state, int i);
  bool begin_decode(Iteration& it);                      // behind the items: true if there is something for the engine
  bool hand_over(const std::shared_ptr<Iteration>& it);  // to the engine
  void decoded(uint64_t number, DecodeJob& job, std::optional<Error> failure, int64_t begin_ns, int64_t end_ns);
  void begin_settling(Iteration& it);  // a decode's items are samples again
  void drop_files(Iteration& it, const std::vector<int>& gone);
  void release_values(Iteration& it);  // that no later step reads
  std::shared_ptr<BoundOp> bind(Iteration& it, const Node& n);
  // Of an iteration's samples, for a node. `it` must live as long.
  struct Contexts {
    const Iteration& it;
    DrawKey draws;
    SampleContext operator()(int sample) const {
      const SampleOrigin& o = it.origin[static_cast<size_t>(sample)];
      const auto [epoch, position] = o.draws();
      return {sample, it.trips_key ^ o.child, epoch, position, draws};
    }
  };
  Contexts contexts(const Iteration& it, const Node& n) const;
  SampleContext context(const Iteration& it, int sample, const Node& n) const { return contexts(it, n)(sample); }
  void set_replays(Iteration& it);  // of the samples of the primary source
  void log_step(Iteration& it, const Step& s);
  void log_sizes(Iteration& it, const Step& s);
  std::shared_ptr<void> slot_token(Iteration& it);  // all output memory of an iteration keeps it
  std::shared_ptr<void> slot_memory(Iteration& it, size_t bytes);
  // Error (out_of_memory) where one batch of so many bytes is more than the pipeline may take, before it is made.
  void check_memory(size_t bytes) const;
  void check_memory(std::span<const Batch> batches) const;
  bool makes_output(const Step& s) const;
  void fail_iteration(Iteration& it, Error e, const Node* n);

  std::map<int, std::unique_ptr<Source>> sources_;
  std::map<int, std::shared_ptr<Callback>> callbacks_;  // by node, guarded by mutex_
  std::vector<int> lanes_;  // by step: of the threads that run it; empty: there are no others
  IndexSetting indexes_;
  std::vector<std::shared_ptr<CpuStage>> cached_;            // by step, where no argument is per sample
  std::vector<std::shared_ptr<BatchStageRunner>> compiled_;  // by step: what iterations rebind
  std::vector<std::shared_ptr<CpuStage>> numbers_;  // by step: over one number a sample, where there has been one
  std::vector<std::atomic<bool>> takes_numbers_;    // by step
  std::vector<Worker> workers_;                     // by thread; the last one is the consumer's
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
  std::shared_ptr<OutputSlots> slots_;
  uint64_t next_number_ = 0;
  std::atomic<bool> stop_{false};  // set under mutex_; a thread that waits for remote storage looks at it
  bool consumer_waits_ = false;
  int held_ = kNobody;                 // the lane that nobody has woken for the only iteration: outputs() comes soon
  std::mutex consumer_;                // held by the thread that does the consumer's share
  uint64_t last_number_ = UINT64_MAX;  // of the iteration in which a source found the end of its data
  bool at_end_of_epoch_ = false;
  std::map<int, std::string> delivered_states_;  // before the first batch: those that the sources begin with
  uint64_t first_position_ = 0;                  // of a pipeline without sources that goes on from a checkpoint
  bool lists_ = false;                           // batches are made by their numbers, those that were listed
  std::deque<BatchPlace> listed_;                // and that no iteration has
  int rebatch_ = 0;                              // samples of a batch that is handed out; 0: those of an iteration
  std::deque<Part> parts_;
  int resumed_ = 0;                  // as skip_, of a checkpoint, until that iteration comes
  std::atomic<bool> warned_{false};  // of a large transfer
  int skip_ = 0;                     // samples of the iteration behind delivered_states_ that are handed out
  int64_t delivered_ = 0;            // batches that were handed out
  std::vector<DrawOrigin> replays_;  // by sample of the primary source, again from the first one after the last
  uint64_t replayed_ = 0;            // samples of the primary source since then
  uint64_t replay_number_ = 0;       // of the first iteration that replays
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
  std::shared_ptr<DirectMemory> file_memory_;
  std::set<size_t> direct_reads_;                             // steps that read files into it
  std::map<size_t, std::unique_ptr<GroupDecoder>> decoders_;  // by step
  size_t read_ahead_bytes_ = 0;  // of the GPU, beyond which iterations behind the prefetch begin no decoding
};

bool is_of_data(const Error& e);

}  // namespace penstock
