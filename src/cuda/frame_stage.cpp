// SPDX-License-Identifier: Apache-2.0
#include "cuda/frame_stage.h"

#include <algorithm>

#include "cuda/stages/stage.h"
#include "cuda/whole/whole_stage.h"
#include "operator/pixel_source.h"

namespace penstock {
namespace {

bool has_gaps(const Batch& b) {
  for (int i = 0; i < b.size(); ++i)
    if (!b.sample(i).strides.empty() && !b.view(i).dense()) return true;
  return false;
}

bool frames_differ(const StageProgram& program, int samples) {
  for (const StageNode& node : program.nodes)
    for (const auto& [argument, batch] : node.op->frame_arguments)
      for (int i = 0; i < samples; ++i)
        if (frames_of(*batch, i) != 1) return true;
  return false;
}

// One kernel; of samples that it cannot read where they are, the first operator makes pixels in memory.
class FrameStage final : public BatchStageRunner {
 public:
  FrameStage(std::unique_ptr<BatchStageRunner> stage, Driver& driver) : stage_(std::move(stage)), driver_(driver) {}
  const StageProgram& program() const override { return stage_->program(); }
  std::unique_ptr<BatchStageRunner> rebound(const StageProgram& program) const override {
    auto stage = stage_->rebound(program);
    return stage ? std::make_unique<FrameStage>(std::move(stage), driver_) : nullptr;
  }
  void run(const BatchStageCall& call, std::span<Batch> outputs, std::vector<SampleError>& errors) override {
    const StageProgram& p = program();
    if (!frames_differ(p, call.size) && !has_gaps(call.inputs[0])) return stage_->run(call, outputs, errors);
    Batch pixels[1];
    make_whole_stage(program_of(p, p.nodes[0]), driver_)->run(call, pixels, errors);
    BatchStageCall second = call;
    second.inputs = pixels;
    make_gpu_stage(after_first(p), driver_)->run(second, outputs, errors);
  }

 private:
  std::unique_ptr<BatchStageRunner> stage_;
  Driver& driver_;

  // The other nodes, whose input is the first one's result.
  static StageProgram after_first(StageProgram p) {
    p.inputs[0] = p.nodes[0].type;
    p.nodes.erase(p.nodes.begin());
    for (StageNode& node : p.nodes)
      for (int& operand : node.operands) --operand;
    for (int& output : p.outputs) --output;
    for (int& size : p.sizes) --size;
    return p;
  }
};

}  // namespace

bool begins_with_frames(const StageProgram& program) {
  return !program.nodes.empty() && pixel_source(*program.nodes[0].op) != nullptr;
}

std::unique_ptr<BatchStageRunner> make_frame_stage(const StageProgram& program, Driver& driver) {
  return std::make_unique<FrameStage>(make_gpu_stage(program, driver), driver);
}

}  // namespace penstock
