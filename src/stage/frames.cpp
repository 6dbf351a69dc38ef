// SPDX-License-Identifier: Apache-2.0
#include "stage/frames.h"

#include "batch/view_part.h"

namespace penstock {
namespace {

void check_frames(const StageNode& node, const ArgInfo& argument, int64_t values, int sample, const Layout& layout,
                  const Shape& shape) {
  const int dim = layout.find('F');
  if (dim >= 0 && values == shape[dim]) return;
  Error e(ErrorKind::argument,
          dim < 0 ? fmt::format("{} has {} values per frame for sample {}, which has no frames (layout '{}')",
                                argument.name, values, sample, layout.str())
                  : fmt::format("{} has {} values per frame for sample {}, which has {} frames", argument.name, values,
                                sample, shape[dim]));
  e.op = node.op->info->name;
  throw e;
}

}  // namespace

int64_t differing_frames(const StageCode& code, int sample, std::span<const Shape> shapes) {
  int64_t frames = 1;
  const StageProgram& p = code.program;
  for (const auto& node : p.nodes)
    for (const auto& [argument, batch] : node.op->frame_arguments) {
      const int64_t n = frames_of(*batch, sample);
      if (n == 1) continue;
      const auto operand = static_cast<size_t>(node.operands[0]);
      check_frames(node, *argument, n, sample, type_of(p, node.operands[0]).layout,
                   operand < shapes.size() ? shapes[operand] : Shape());
      frames = n;
    }
  return frames;
}

bool keeps_frames(const StageCode& code, const SampleContext& context, std::span<const Shape> shapes) {
  const StageProgram& p = code.program;
  const Shape& out = shapes[static_cast<size_t>(p.outputs[0])];
  const int dim = type_of(p, p.outputs[0]).layout.find('F'), n = out.size();
  if (code.positional || code.reads_frames || dim < 0) return false;
  const int64_t frames = out[dim];
  for (size_t k = 0; k < p.inputs.size(); ++k) {
    const Layout& layout = p.inputs[k].layout;
    const int at = dim - (n - shapes[k].size());
    if (!layout.empty() && layout.find('F') != (at < 0 ? -1 : at)) return false;
    if (at >= 0 && shapes[k][at] != frames && shapes[k][at] != 1) return false;
  }
  for (size_t k = p.inputs.size(); k < shapes.size(); ++k)
    if (shapes[k].size() != n || type_of(p, static_cast<int>(k)).layout.find('F') != dim || shapes[k][dim] != frames)
      return false;
  if (!code.maps) return true;
  Placement placement(shapes[0], p.inputs[0].layout);
  for (size_t i = 0; i < p.nodes.size(); ++i) {
    if (!code.traits[i].maps) continue;
    SampleContext c = context;
    c.draws = p.nodes[i].draws;
    p.nodes[i].op->map(c, placement);
    if (!placement[dim].identity()) return false;
  }
  return true;
}

View frame_of(const View& input, int dim, int ndim, int64_t frame) {
  const int at = dim - (ndim - input.shape.size());
  return at >= 0 && input.shape[at] != 1 ? part(input, at, frame, 1) : input;
}

}  // namespace penstock
