// SPDX-License-Identifier: Apache-2.0
// A stage on the CPU: tiles of a sample flow through a list of function pointers.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error_of.h"
#include "base/target.h"
#include "codecs/decode_task.h"
#include "stage/program.h"

namespace penstock {

struct StageTimes {
  int64_t decode_ns = 0, pixels_ns = 0;
};

// Working memory of one thread; grows to what its largest sample needs.
class CpuScratch {
 public:
  CpuScratch();
  ~CpuScratch();
  StageTimes times;
  bool cold_output = false;  // the output has left the caches before anybody reads it: a sample of a large batch
  struct State;
  std::unique_ptr<State> state[kDecodeTogether];  // one for each sample in turn
};

// One sample of several that a stage runs in turn.
struct StageTask {
  const SampleContext& context;
  std::span<const StageInput> in;
  const AllocateOutput& allocate;
  std::optional<Error> error;  // why it failed, if it did

  template <class Step> void guard(Step&& step) { error = error_of(step); }
};

class CpuStage {
 public:
  explicit CpuStage(StageProgram program, Target target = best_target());
  ~CpuStage();
  const StageProgram& program() const;
  // Shapes of the outputs, as far as the known shapes of the inputs determine them (-1 = unknown); -1 elsewhere.
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<Shape> out) const;
  // Runs one sample. Thread-safe with one scratch per thread. Calls `allocate` as soon as an output's shape is known.
  // Each node replaces SampleContext::draws by its own.
  void run(const SampleContext& s, std::span<const StageInput> in, const AllocateOutput& allocate,
           CpuScratch& scratch) const;
  // How many samples one thread best runs in turn (decoders gain from two); 1: no gain.
  int together() const;
  // Runs at most together() samples. An error of one stays in its task and does not affect the others.
  void run_together(std::span<StageTask> tasks, CpuScratch& scratch) const;
  struct State;

 private:
  class Sample;
  // One sample, or one frame of it, with the arguments of SampleContext::values().
  void run_sample(const SampleContext& s, std::span<const StageInput> in, const AllocateOutput& allocate,
                  CpuScratch& scratch) const;
  // Node by node, for stages that cannot run frame by frame.
  void run_nodes(const SampleContext& s, std::span<const StageInput> in, const AllocateOutput& allocate,
                 CpuScratch& scratch) const;
  // Where another operator has refused a picture by its size: why the file cannot be decoded, if so. As if the
  // operators had run one after the other.
  void blame_file(std::span<const StageInput> in, Error& e) const;
  // For all values, the inputs first.
  std::vector<Shape> value_shapes(const SampleContext& s, std::span<const Shape> in) const;
  std::unique_ptr<State> state_;
};

}  // namespace penstock
