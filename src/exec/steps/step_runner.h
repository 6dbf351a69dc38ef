// SPDX-License-Identifier: Apache-2.0
// A step of a plan that runs: prepare() on one thread, run() of its items on many, finish() and settled() on one. Each
// kind of step is a class in a file of its own, with a state for each iteration that is in the step.
#pragma once
#include <memory>
#include <vector>

#include "exec/step_context.h"
#include "exec/worker.h"

namespace penstock {

// What the threads and the error policy need to know of a step.
struct StepRules {
  bool in_order = false;           // prepared in the order of the iterations
  bool allocates = false;          // waits while the pipeline has much memory
  bool makes_output = false;       // ... or while the user holds many batches
  bool fed_ahead = false;          // ... of more iterations than the prefetch
  bool runs_here = false;          // the thread that waits for the batch may run it
  bool computes = true;            // false: it only brings samples or their bytes
  bool replaceable = true;         // one sample of it can be made again
  bool repeats_iteration = false;  // ... when the iteration begins again
  bool brings_samples = false;     // a source
  bool logs_condition = false;     // of a branch
  int own_threads = 0;             // these alone prepare it
};

class StepRunner {
 public:
  StepRunner(StepContext& context, size_t index);
  virtual ~StepRunner() = default;
  StepRunner(const StepRunner&) = delete;
  StepRunner& operator=(const StepRunner&) = delete;

  // Makes the outputs, or sets Iteration::items.
  virtual void prepare(Iteration& it, Worker& worker) = 0;
  virtual void run(Iteration& /*it*/, int /*first*/, int /*count*/, Worker&) {}
  virtual void finish(Iteration&) {}  // all items have run, or one has failed
  // Errors are settled. True: it is handed over, and goes on by HandOver.
  virtual bool settled(Iteration&) { return false; }
  // The iteration is nobody's: gives it to whom settled() has prepared it for. False: nobody.
  virtual bool hand_over(const std::shared_ptr<Iteration>&) { return false; }
  virtual void begin_settling(Iteration&) {}                          // items are samples again
  virtual void drop(Iteration&, const std::vector<int>& /*gone*/) {}  // samples that leave the iteration

  virtual const Node& blamed(const Error& e) const;       // for an error of a sample
  virtual bool ready() const { return rules.runs_here; }  // to be run by the thread that waits, at once
  // Waits for data that nobody brings. alone: or would wait, were it prepared by the thread that brings data.
  virtual bool starves(bool /*alone*/) const { return false; }
  virtual size_t bytes_in_use() const { return 0; }  // of a GPU, in libraries

  void add_error(Iteration& it, int sample, Error e) const;

  const Step& step;
  const Node& node;  // of the plan: the first one
  StepRules rules;
  int lane = kAnyStep;  // of the threads that prepare it

 protected:
  // Whether the pipeline hands out what it makes. several: one of the outputs of its node.
  bool makes_output(bool several = false) const;
  std::shared_ptr<void> output_memory(Iteration& it, size_t bytes) const;  // of the host

  StepContext& context_;
  const size_t index_;
};

// A step whose iterations have a state of this type.
template <class State>
class StatefulStep : public StepRunner {
 public:
  using StepRunner::StepRunner;

 protected:
  static State& state_of(const Iteration& it) { return static_cast<State&>(*it.step_state); }
};

// The only place that knows all kinds of steps.
std::vector<std::unique_ptr<StepRunner>> make_steps(StepContext& context);

}  // namespace penstock
