// SPDX-License-Identifier: Apache-2.0
// Stages whose arguments have one value for each frame: a sample runs frame by frame.
#include "batch/view_part.h"
#include "cpu/stage_state.h"
#include "stage/frames.h"

namespace penstock {
void CpuStage::run(const SampleContext& context, std::span<const StageInput> in, const AllocateOutput& allocate,
                   CpuScratch& scratch) const {
  if (!state_->has_frames) return run_sample(context, in, allocate, scratch);
  const auto& p = state_->program;
  std::vector<Shape> shapes;
  if (!state_->decodes) {  // images have no frames
    for (const auto& input : in) shapes.push_back(input.view.shape);
    shapes = value_shapes(context, shapes);
  }
  if (differing_frames(*state_, context.index, shapes) == 1) return run_sample(context, in, allocate, scratch);
  if (!keeps_frames(*state_, context, shapes)) return run_nodes(context, in, allocate, scratch);

  const ValueType& type = type_of(p, p.outputs[0]);
  const Shape& shape = shapes[p.outputs[0]];
  const int dim = type.layout.find('F');
  const View whole = allocate(0, type.dtype, shape, type.layout);
  std::vector<StageInput> of_frame(in.begin(), in.end());
  for (int64_t frame = 0; frame < shape[dim]; ++frame) {
    for (size_t k = 0; k < in.size(); ++k) of_frame[k].view = frame_of(in[k].view, dim, shape.size(), frame);
    SampleContext c = context;
    c.frame = frame;
    run_sample(
        c, of_frame,
        [&](int output, DType t, const Shape& s, const Layout& l) {
          return output == 0 ? part(whole, dim, frame, 1) : allocate(output, t, s, l);
        },
        scratch);
  }
}

void CpuStage::run_nodes(const SampleContext& context, std::span<const StageInput> in, const AllocateOutput& allocate,
                         CpuScratch& scratch) const {
  const auto& p = state_->program;
  if (p.nodes.size() == 1)
    fail(ErrorKind::internal,
         "an operator that moves frames cannot have arguments for each "
         "frame");
  std::vector<StageInput> values(in.begin(), in.end());
  std::vector<Tensor> held;
  for (const auto& node : p.nodes) {
    std::vector<StageInput> operands;
    for (const int k : node.operands) operands.push_back(values[static_cast<size_t>(k)]);
    const bool last = static_cast<int>(values.size()) == p.outputs[0];
    StageInput result;
    CpuStage(program_of(p, node), state_->target)
        .run(
            context, operands,
            [&](int output, DType t, const Shape& s, const Layout& l) {
              if (last) return result.view = allocate(output, t, s, l);
              held.push_back(Tensor::empty(t, s, l));
              return result.view = held.back().view;
            },
            scratch);
    values.push_back(result);
  }
  for (size_t k = 0; k < p.sizes.size(); ++k)
    write_size(p, static_cast<int>(k), values[p.sizes[k]].view.shape, allocate);
}

}  // namespace penstock
