// SPDX-License-Identifier: Apache-2.0
// Stages whose arguments have one value for each frame: a sample runs frame by frame.
#include "batch/view_part.h"
#include "cpu/stage_state.h"

namespace penstock {
namespace {

// Whether an argument of the node differs between the frames of the sample; throws where their numbers do not match.
bool differs(const StageNode& node, const ValueType& in, const Shape& shape, int sample) {
  const int dim = in.layout.find('F');
  bool any = false;
  for (const auto& [argument, batch] : node.op->frame_arguments) {
    const int64_t n = frames_of(*batch, sample);
    any |= n != 1;
    if (n == 1 || (dim >= 0 && n == shape[dim])) continue;
    Error e(ErrorKind::argument,
            dim < 0 ? fmt::format("{} has {} values per frame for sample {}, which has no frames (layout '{}')",
                                  argument->name, n, sample, in.layout.str())
                    : fmt::format("{} has {} values per frame for sample {}, which has {} frames", argument->name, n,
                                  sample, shape[dim]));
    e.op = node.op->info->name;
    throw e;
  }
  return any;
}

}  // namespace

void CpuStage::run(const SampleContext& context, std::span<const StageInput> in, const AllocateOutput& allocate,
                   CpuScratch& scratch) const {
  if (!state_->has_frames) return run_sample(context, in, allocate, scratch);
  const auto& p = state_->program;
  std::vector<Shape> shapes;
  if (!state_->decodes) {  // images have no frames
    for (const auto& input : in) shapes.push_back(input.view.shape);
    shapes = value_shapes(context, shapes);
  }
  bool any = false;
  for (const auto& node : p.nodes)
    if (!node.op->frame_arguments.empty())
      any |= differs(node, type_of(p, node.operands[0]), state_->decodes ? Shape() : shapes[node.operands[0]],
                     context.index);
  if (!any) return run_sample(context, in, allocate, scratch);
  if (!keeps_frames(context, in, shapes)) return run_nodes(context, in, allocate, scratch);

  const ValueType& type = type_of(p, p.outputs[0]);
  const Shape& shape = shapes[p.outputs[0]];
  const int dim = type.layout.find('F');
  const View whole = allocate(0, type.dtype, shape, type.layout);
  std::vector<StageInput> of_frame(in.begin(), in.end());
  for (int64_t frame = 0; frame < shape[dim]; ++frame) {
    for (size_t k = 0; k < in.size(); ++k) {  // trailing dimensions are aligned, extents of 1 are repeated
      const int at = dim - (shape.size() - in[k].view.shape.size());
      if (at >= 0 && in[k].view.shape[at] != 1) of_frame[k].view = part(in[k].view, at, frame, 1);
    }
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

// Whether all values have the same frames in the same order.
bool CpuStage::keeps_frames(const SampleContext& context, std::span<const StageInput> in,
                            std::span<const Shape> shapes) const {
  const auto& p = state_->program;
  const int dim = type_of(p, p.outputs[0]).layout.find('F'), n = shapes[p.outputs[0]].size();
  if (state_->positional || dim < 0) return false;
  const int64_t frames = shapes[p.outputs[0]][dim];
  for (size_t k = 0; k < in.size(); ++k) {
    const Layout& layout = p.inputs[k].layout;
    const int at = dim - (n - shapes[k].size());
    if (!layout.empty() && layout.find('F') != (at < 0 ? -1 : at)) return false;
    if (at >= 0 && shapes[k][at] != frames && shapes[k][at] != 1) return false;
  }
  for (size_t k = in.size(); k < shapes.size(); ++k)
    if (shapes[k].size() != n || type_of(p, static_cast<int>(k)).layout.find('F') != dim || shapes[k][dim] != frames)
      return false;
  if (!state_->maps) return true;
  Placement placement(shapes[0], p.inputs[0].layout);
  for (size_t i = 0; i < p.nodes.size(); ++i) {
    if (!state_->traits[i].maps) continue;
    SampleContext c = context;
    c.draws = p.nodes[i].draws;
    p.nodes[i].op->map(c, placement);
    if (!placement[dim].identity()) return false;
  }
  return true;
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
    StageProgram one;
    std::vector<StageInput> operands;
    one.nodes.push_back(node);
    for (size_t k = 0; k < node.operands.size(); ++k) {
      one.inputs.push_back(type_of(p, node.operands[k]));
      one.nodes[0].operands[k] = static_cast<int>(k);
      operands.push_back(values[node.operands[k]]);
    }
    one.outputs = {static_cast<int>(operands.size())};
    const bool last = static_cast<int>(values.size()) == p.outputs[0];
    StageInput result;
    CpuStage(std::move(one), state_->target)
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
