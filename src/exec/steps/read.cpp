// SPDX-License-Identifier: Apache-2.0
// Steps that read the files that a reader has named. Files that nothing but a GPU reads go past the host's memory,
// where cuFile is.
#include <utility>

#include "data/storage.h"
#include "exec/steps/direct_files.h"
#include "exec/steps/kinds.h"
#include "readers/direct_memory.h"

namespace penstock {
namespace {

class ReadStep final : public StepRunner {
 public:
  ReadStep(StepContext& context, size_t index) : StepRunner(context, index) {
    rules.computes = false;
    if (context.gpu && context.plan.options.reads_apart) memory_ = context.gpu->staging();
    if (!context.gpu || context.options.late != Late::wait || !only_uploaded(context.plan, step.output)) return;
    if (!context.files) context.files = direct_memory(*context.gpu, true);
    direct_ = context.files;
  }

  void prepare(Iteration& it, Worker&) override {
    it.items = it.size;
    if (!direct_) return;
    Batch& b = it.values.at(step.output);
    b.set_device(direct_->device()), b.stream = it.stream;
  }
  void run(Iteration& it, int first, int count, Worker&) override {
    for (int i = first; i < first + count; ++i) read(it, i);
  }

 private:
  void read(Iteration& it, int i);

  std::shared_ptr<DirectMemory> direct_;
  std::shared_ptr<MemoryResource> memory_ = context_.options.memory;
};

void ReadStep::read(Iteration& it, int i) {
  const std::string& path = context_.path_of(it, step.output, i);
  FileStamp stamp;
  std::shared_ptr<void> memory;
  int64_t bytes;
  if (direct_) {
    memory = read_file_to_device(direct_, path, it.stream, stamp);
    bytes = stamp.bytes;
  } else {
    const auto room = [&](int64_t n) {
      memory = allocate_shared(memory_, static_cast<size_t>(n));
      return static_cast<uint8_t*>(memory.get());
    };
    bytes = read_file_to(path, room, default_file_limit, &stamp);
  }
  if (step.output.node == context_.sources.primary()) it.origin[i].stamp = stamp;
  auto& sample = it.values.at(step.output).sample(i);
  sample.shape = Shape{bytes};
  sample.data = memory.get();
  sample.owner = std::move(memory);
}

}  // namespace

std::unique_ptr<StepRunner> make_read_step(StepContext& context, size_t index) {
  return std::make_unique<ReadStep>(context, index);
}

}  // namespace penstock
