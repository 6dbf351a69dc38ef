// SPDX-License-Identifier: Apache-2.0
// Runs a plan. It makes the parts and connects them: sources, steps, the iterations in flight, the queue of outputs.
#pragma once
#include "exec/output_queue.h"
#include "exec/pipeline_indexes.h"

namespace penstock {

class Executor {
 public:
  Executor(Graph graph, PipelineOptions options);
  ~Executor();

  // leave_epoch: in the middle of one, whose rest nobody wants.
  void reset(bool leave_epoch, const JobConsumer::Poll& poll);
  bool stop_within(std::chrono::milliseconds patience);  // see Pipeline::stop()
  void set_refill(int batch_size);
  void watch_steps(AfterStep after);
  void log_steps();
  void add_to(PipelineStatistics& s) const;
  void restore(const std::string& state);

  Graph graph;
  PipelineOptions options;
  Engines engines;  // until a step has them
  Plan plan;
  Statistics statistics;
  PipelineSources sources;
  Callbacks callbacks{graph};

 private:
  HostPool* const pool_;  // where memory is a pool of our own
  OutputMemory memory_{options, [this] { iterations.scheduler.look_again(); }};
  StepContext context_{graph, plan, options, statistics, sources, callbacks, memory_, engines};
  IterationRunner runner_{context_, pool_};
  std::unique_ptr<LateSamples> late_;  // where samples may come late

 public:
  IterationQueue iterations{runner_, graph, plan, options.threads_made(),
                            options.late == Late::swap ? options.threads : 0};
  OutputQueue outputs{plan, options, sources, statistics, iterations};

 private:
  void open();
  void open_gpu();
  void open_sources();
  void ask_to_stop();
  void stop();

  std::unique_ptr<GpuWork> gpu_;  // where a step needs one
  PipelineIndexes indexes_;
};

}  // namespace penstock
