// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/fold_arguments.h"

namespace penstock {

bool has_arguments_on_gpu(const FoldedArguments& f) {
  for (const Batch* b : f.arguments)
    if (b && b->device().kind == DeviceKind::gpu) return true;
  return false;
}

bool has_arguments_on_gpu(const StageCode& code) {
  for (const auto& node : code.program.nodes)
    if (node.op->per_sample() && has_arguments_on_gpu(node.op->folded())) return true;
  return false;
}

FoldRow fold_row(const FoldedArguments& f, int64_t op, const SampleContext& context) {
  FoldRow row{};
  row.op = op;
  for (int k = 0; k < f.arguments.size(); ++k) {
    const Batch* b = f.arguments[k];
    if (!b || b->device().kind != DeviceKind::gpu) continue;
    View v = b->view(context.index);
    if (has_frames(*b)) v = of_frame(v, context.frame);
    if (v.volume() != 1) bad_argument("expected one value for a sample, got a tensor of shape {}", v.shape.text());
    row.arguments[k] = {reinterpret_cast<int64_t>(v.data), static_cast<int64_t>(b->dtype())};
  }
  return row;
}

}  // namespace penstock
