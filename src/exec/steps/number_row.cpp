// SPDX-License-Identifier: Apache-2.0
#include "exec/steps/number_row.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error_of.h"
#include "exec/steps/stage_program.h"
#include "graph/stage_growth.h"

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
static bool takes_numbers(const Plan& plan, const Step& s) {
  if (!plan.options.fuse || s.lazy_source || s.pinned || s.inputs.empty() || !has_constant_arguments(plan, s))
    return false;
  return std::all_of(s.nodes.begin(), s.nodes.end(), [&](int id) {
    const Node& n = plan.graph.node(id);
    const StageTraits t = stage_traits(plan.graph, n);
    return t.pixels && !t.decodes && !t.maps && (!t.own_shapes || t.operands > 1) && !t.mixes_channels &&
           (!t.per_channel || !has_list(n)) && !t.positional && !gives_size(n) && !info_of(n).random;
  });
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

NumberRow::NumberRow(StepContext& context, const Step& step)
    : context_(context), step_(step), possible_(takes_numbers(context.plan, step)) {}

// Null: the ordinary way says what is wrong.
std::shared_ptr<CpuStage> NumberRow::stage_for(Iteration& it, std::vector<ValueType> types) {
  std::shared_ptr<CpuStage> stage;
  {
    std::lock_guard lock(mutex_);
    stage = stage_;
  }
  if (stage && fits(stage->program(), types)) return stage;
  if (error_of([&] { stage = std::make_shared<CpuStage>(program_of(context_, it, step_, std::move(types), {})); })) {
    possible_ = false;
    return nullptr;
  }
  std::lock_guard lock(mutex_);
  stage_ = stage;
  return stage;
}

bool NumberRow::run(Iteration& it, CpuScratch& scratch) {
  if (!possible_ || it.size < 2) return false;
  const auto& refs = step_.inputs;
  std::vector<ValueType> types;
  int ndim = 0;
  for (const ValueRef& v : refs) {
    const Batch& b = it.values.at(v);
    if (!is_numbers(b, it.size)) return false;
    ndim = std::max(ndim, b.ndim());
    types.push_back({b.dtype(), 2, {}});
  }
  const std::shared_ptr<CpuStage> stage = stage_for(it, std::move(types));
  if (!stage) return false;
  std::vector<std::vector<std::byte>> memory(refs.size());
  std::vector<StageInput> in(refs.size());
  for (size_t k = 0; k < in.size(); ++k) in[k].view = row_of(it.values.at(refs[k]), memory[k]);
  const DType type = stage->program().nodes.back().type.dtype;
  Batch out(type, ndim, {}, it.size);
  Shape one;
  for (int d = 0; d < ndim; ++d) one.push_back(1);
  out.block = context_.outputs.take(it, static_cast<size_t>(it.size) * size_of(type));
  const AllocateOutput allocate = [&](int, DType t, const Shape& shape, const Layout&) -> View {
    if (shape.volume() != it.size)
      fail(ErrorKind::internal, "a row of {} numbers became one of shape {}", it.size, shape.text());
    return {out.block.get(), t, {}, shape, dense_strides(shape)};
  };
  // An error has to name its sample: the ordinary way finds it.
  const Node& first = context_.plan.graph.node(step_.nodes[0]);
  if (error_of([&] { stage->run(context_.context(it, 0, first), in, allocate, scratch); })) return false;
  for (int i = 0; i < it.size; ++i) {
    out.sample(i).data = static_cast<char*>(out.block.get()) + static_cast<size_t>(i) * size_of(type);
    out.sample(i).shape = one;
    out.sample(i).source = context_.path_of(it, refs[0], i);
  }
  it.values[step_.output] = std::move(out);
  return true;
}

}  // namespace penstock
