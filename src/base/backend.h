// SPDX-License-Identifier: Apache-2.0
// What a device offers to the executor: it runs stages. The CPU registers itself; the CUDA backend is a library that
// is loaded at run time and registers itself when it is loaded.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error_of.h"
#include "base/memory.h"

namespace penstock {

class Shape;
struct SampleContext;
struct StageProgram;
struct StageInput;
struct View;
class Layout;
enum class DType : int8_t;
using AllocateOutput = std::function<View(int output, DType, const Shape&, const Layout&)>;

struct StageTimes {
  int64_t decode_ns = 0, pixels_ns = 0;
};

// Working memory of one thread; grows to what its largest sample needs.
class StageScratch {
 public:
  virtual ~StageScratch() = default;
  StageTimes times;
  bool cold_output = false;  // the output has left the caches before anybody reads it: a sample of a large batch
};

// One sample of several that a stage runs in turn.
struct StageTask {
  const SampleContext& context;
  std::span<const StageInput> in;
  const AllocateOutput& allocate;
  std::optional<Error> error;  // why it failed, if it did

  template <class Step> void guard(Step&& step) { error = error_of(step); }
};

class StageRunner {
 public:
  virtual ~StageRunner() = default;
  virtual const StageProgram& program() const = 0;
  // Shapes of the outputs, as far as the known shapes of the inputs determine them (-1 = unknown); -1 elsewhere.
  virtual void shapes(const SampleContext& s, std::span<const Shape> in, std::span<Shape> out) const = 0;
  // Runs one sample. Thread-safe with one scratch per thread. Calls `allocate` as soon as an output's shape is known.
  // Each node replaces SampleContext::draws by its own.
  virtual void run(const SampleContext& s, std::span<const StageInput> in, const AllocateOutput& allocate,
                   StageScratch& scratch) const = 0;
  // How many samples one thread best runs in turn (decoders gain from two); 1: no gain.
  virtual int together() const { return 1; }
  // Runs at most together() samples. An error of one stays in its task and does not affect the others.
  virtual void run_together(std::span<StageTask> tasks, StageScratch& scratch) const {
    for (StageTask& t : tasks) t.guard([&] { run(t.context, t.in, t.allocate, scratch); });
  }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* name() const = 0;
  virtual std::string why_not() const = 0;  // empty if it can be used, else the reason
  virtual std::unique_ptr<StageRunner> make_stage(StageProgram program) = 0;
  virtual std::unique_ptr<StageScratch> make_scratch() = 0;
};

void register_backend(DeviceKind kind, std::unique_ptr<Backend> backend);
// Throws ErrorKind::internal where none is registered.
Backend& backend(DeviceKind kind);

}  // namespace penstock
