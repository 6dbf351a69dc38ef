// SPDX-License-Identifier: Apache-2.0
#include "exec/steps/direct_files.h"

#include <utility>

#include "graph/arrangement.h"

namespace penstock {

bool only_uploaded(const Plan& plan, ValueRef value) {
  const Node& n = plan.graph.node(value.node);
  bool only = n.control == Control::none && n.on_gpu;
  for (size_t i = 0; i < plan.steps.size(); ++i)
    for_each_read(plan, i, [&](ValueRef v) {
      if (v == value) only &= plan.steps[i].kind == Step::Kind::transfer && plan.steps[i].gpu;
    });
  for (ValueRef v : plan.graph.outputs()) only &= !(v == value);
  return only;
}

std::shared_ptr<DirectMemory> direct_memory(GpuWork& gpu, bool registers) {
  std::string why;
  DirectStorage* storage = direct_storage(why);
  if (!storage) return nullptr;
  return std::make_shared<DirectMemory>(gpu.runtime(), gpu.device(), gpu.memory(), gpu.pinned(), *storage, registers);
}

void read_directly(PipelineSources& sources, const Plan& plan, GpuWork& gpu) {
  for (const auto& [id, s] : sources.all())
    if (auto* reader = dynamic_cast<ReadsDirectly*>(s.get()); reader && only_uploaded(plan, {id, 0}))
      if (auto made = direct_memory(gpu, reader->registers_memory())) reader->read_into(std::move(made));
}

}  // namespace penstock
