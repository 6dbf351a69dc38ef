// SPDX-License-Identifier: Apache-2.0
// Stages over one number a sample, as loops and conditions are full of: all samples together are one row of a stage,
// which costs little more than one sample does.
#include <algorithm>
#include <cstring>

#include "exec/executor.h"
#include "graph/stage_growth.h"
#include "stage/program.h"

namespace penstock {

// Of several values for channels.
static bool has_list(const Node& n) {
  return std::any_of(n.constants.begin(), n.constants.end(), [](const auto& constant) {
    return std::visit(
        [](const auto& v) {
          if constexpr (requires { v.emplace_back(); }) return v.size() > 1;
          else return false;
        },
        constant.second);
  });
}

// What an element becomes depends on its value alone.
void Executor::find_stages_of_numbers() {
  numbers_.assign(plan.steps.size(), nullptr);
  takes_numbers_ = std::vector<std::atomic<bool>>(plan.steps.size());
  for (size_t i = 0; i < plan.steps.size() && plan.options.fuse; ++i) {
    const Step& s = plan.steps[i];
    if (s.kind != Step::Kind::stage || s.gpu || s.lazy_source || s.pinned || s.inputs.empty() ||
        !has_constant_arguments(s))
      continue;
    takes_numbers_[i] = std::all_of(s.nodes.begin(), s.nodes.end(), [&](int id) {
      const Node& n = plan.graph.node(id);
      const StageTraits t = stage_traits(plan.graph, n);
      return t.pixels && !t.decodes && !t.maps && (!t.own_shapes || t.operands > 1) && !t.mixes_channels &&
             (!t.per_channel || !has_list(n)) && !t.positional && !gives_size(n) && !info_of(n).random;
    });
  }
}

namespace {

// The samples' numbers, one after the other, of one channel: where they are, or in `memory`.
View row_of(const Batch& b, std::vector<std::byte>& memory) {
  const size_t bytes = size_of(b.dtype());
  const auto* first = static_cast<const std::byte*>(b.sample(0).data);
  bool together = true;
  for (int i = 1; i < b.size() && together; ++i) together = b.sample(i).data == first + static_cast<size_t>(i) * bytes;
  if (!together) {
    memory.resize(static_cast<size_t>(b.size()) * bytes);
    for (int i = 0; i < b.size(); ++i)
      std::memcpy(memory.data() + static_cast<size_t>(i) * bytes, b.sample(i).data, bytes);
    first = memory.data();
  }
  return {const_cast<std::byte*>(first), b.dtype(), {}, Shape{b.size(), 1}, Shape{1, 1}};
}

// One element a sample, in any number of dimensions, as labels have one.
bool is_numbers(const Batch& b, int size) {
  if (b.size() != size || b.dtype() == DType::none || b.device().kind != DeviceKind::cpu || !b.layout().empty())
    return false;
  for (int i = 0; i < size; ++i)
    if (!b.sample(i).data || b.shape(i).volume() != 1) return false;
  return true;
}

}  // namespace

bool Executor::run_numbers(Iteration& it, const Step& s, CpuScratch& scratch) {
  if (!takes_numbers_[it.step] || it.size < 2) return false;
  std::vector<ValueType> types;
  int ndim = 0;
  for (const ValueRef& v : s.inputs) {
    const Batch& b = it.values.at(v);
    if (!is_numbers(b, it.size)) return false;
    ndim = std::max(ndim, b.ndim());
    types.push_back({b.dtype(), 2, {}});
  }
  std::shared_ptr<CpuStage> runner;
  {
    std::lock_guard lock(mutex_);
    runner = numbers_[it.step];
  }
  if (!runner || !fits(runner->program(), types)) {
    if (error_of([&] { runner = std::make_shared<CpuStage>(program_of(it, s, types, {})); })) {
      takes_numbers_[it.step] = false;  // the ordinary way says what is wrong
      return false;
    }
    std::lock_guard lock(mutex_);
    numbers_[it.step] = runner;
  }
  std::vector<std::vector<std::byte>> memory(s.inputs.size());
  std::vector<StageInput> in(s.inputs.size());
  for (size_t k = 0; k < in.size(); ++k) in[k].view = row_of(it.values.at(s.inputs[k]), memory[k]);
  const DType type = runner->program().nodes.back().type.dtype;
  Batch out(type, ndim, {}, it.size);
  Shape one;
  for (int d = 0; d < ndim; ++d) one.push_back(1);
  out.block = slot_memory(it, static_cast<size_t>(it.size) * size_of(type));
  const AllocateOutput allocate = [&](int, DType t, const Shape& shape, const Layout&) -> View {
    if (shape.volume() != it.size)
      fail(ErrorKind::internal, "a row of {} numbers became one of shape {}", it.size, shape.text());
    return {out.block.get(), t, {}, shape, dense_strides(shape)};
  };
  // An error has to name its sample: the ordinary way finds it.
  if (error_of([&] { runner->run(context(it, 0, plan.graph.node(s.nodes[0])), in, allocate, scratch); })) return false;
  for (int i = 0; i < it.size; ++i) {
    out.sample(i).data = static_cast<char*>(out.block.get()) + static_cast<size_t>(i) * size_of(type);
    out.sample(i).shape = one;
    out.sample(i).source = path_of(it, s.inputs[0], i);
  }
  it.values[s.output] = std::move(out);
  return true;
}

}  // namespace penstock
