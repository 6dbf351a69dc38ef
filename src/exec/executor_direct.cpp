// SPDX-License-Identifier: Apache-2.0
// Files that nothing but a GPU reads: past the host's memory, where cuFile is.
#include "exec/executor.h"
#include "graph/arrangement.h"
#include "readers/direct_memory.h"

namespace penstock {

namespace {

// Whether the program asked for a reader on the GPU, and nothing reads this value of it but the copy to there.
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

}  // namespace

void Executor::open_direct() {
  if (!gpu_) return;
  std::string why;
  const auto memory = [&](bool registers) -> std::shared_ptr<DirectMemory> {
    DirectStorage* storage = direct_storage(why);
    if (!storage) return nullptr;
    return std::make_shared<DirectMemory>(gpu_->runtime(), gpu_->device(), gpu_->memory(), gpu_->pinned(), *storage,
                                          registers);
  };
  for (auto& [id, s] : sources_)
    if (auto* reader = dynamic_cast<ReadsDirectly*>(s.get()); reader && only_uploaded(plan, {id, 0}))
      if (auto made = memory(reader->registers_memory())) reader->read_into(std::move(made));
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].kind != Step::Kind::read || !only_uploaded(plan, plan.steps[i].output)) continue;
    if (!file_memory_) file_memory_ = memory(true);
    if (file_memory_) direct_reads_.insert(i);
  }
}

void Executor::prepare_read(Iteration& it, const Step& s) {
  it.items = it.size;
  if (!direct_reads_.count(it.step)) return;
  Batch& b = it.values.at(s.output);
  b.set_device(file_memory_->device()), b.stream = it.stream;
}

}  // namespace penstock
