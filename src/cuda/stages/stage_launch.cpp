// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/stage_launch.h"

#include <algorithm>

#include "cuda/stages/fold_arguments.h"
#include "cuda/stages/generic_stage.h"
#include "cuda/stages/stage_table.h"

namespace penstock {

bool StageLauncher::enqueue(const Batch& out, std::vector<SampleError>& errors) {
  const bool run = pad_.run.samples > 0;
  pad_.variants.clear();
  if (run) pad_.variants.push_back(pad_.run.like.geometry->variant);
  else find_groups(out);
  std::shared_ptr<void> faults;
  if (code_.faults) {
    faults = allocate_shared(driver_.memory(call_.device), call_.size * sizeof(int32_t), call_.stream);
    driver_.set_zero(call_.device, faults.get(), call_.size * sizeof(int32_t), call_.stream);
  }
  for (size_t g = 0; g < pad_.variants.size(); ++g) {
    PackCall pack;
    pack.entries = pad_.entries;
    if (pad_.variants.size() > 1) {
      pad_.group.clear();
      for (size_t e = 0; e < pad_.entries.size(); ++e)
        if (pad_.group_of[e] == static_cast<int>(g)) pad_.group.push_back(pad_.entries[e]);
      pack.entries = pad_.group;
    }
    if (run) pack.entries = {&pad_.run.like, 1}, pack.run = &pad_.run;
    pack.inputs = call_.inputs, pack.output = &out;
    pack.faults = static_cast<int32_t*>(faults.get());
    pack.multiprocessors = driver_.multiprocessors(call_.device);
    pack.constant = constant_;
    pack.contexts = pad_.contexts;
    pack.windows = pad_.weights, pack.alike = pad_.alike.data();
    const auto works = [](const StageEntry& e) { return e.geometry->positions() > 0; };
    if (std::none_of(pack.entries.begin(), pack.entries.end(), works)) continue;
    if (!launch(pack, pad_.variants[g])) return false;
  }
  if (faults) find_faults(faults.get(), errors);
  return true;
}

// Mostly one group; samples of different numbers of channels, say, make more.
void StageLauncher::find_groups(const Batch& out) {
  pad_.group_of.resize(pad_.entries.size());
  const StageSample* last = nullptr;
  size_t g = 0;
  for (size_t e = 0; e < pad_.entries.size(); ++e) {
    StageEntry& entry = pad_.entries[e];
    entry.out = static_cast<char*>(out.sample(entry.sample).data) + entry.geometry->out;
    if (entry.geometry != last && !(last && entry.geometry->variant == last->variant)) {
      g = 0;
      while (g < pad_.variants.size() && !unite(pad_.variants[g], entry.geometry->variant)) ++g;
      if (g == pad_.variants.size()) pad_.variants.push_back(entry.geometry->variant);
    }
    last = entry.geometry;
    pad_.group_of[e] = static_cast<int>(g);
  }
}

// Of few entries, or of samples alike, whose table is the kernel's parameter. False: it is too large, or the kernel
// that was chosen takes none.
bool StageLauncher::launch_by_value(const PackCall& pack, StageVariant v, size_t n,
                                    std::optional<StageKernels::Chosen>& chosen) {
  const bool may_join = v.kind == StageVariant::Kind::elements && constant_;
  if (folds_ || n >= pad_.too_many) return false;
  const size_t rows = v.one_row ? 1 : n;
  if (!may_join && rows * row_layout(code_, v).bytes() >= kTableParameter) return false;
  TableWriter table(nullptr, nullptr, kTableParameter, pad_.small);
  const PackedTable packed = pack_table(code_, v, pack, table);
  if (table.size() > kTableParameter) {
    pad_.too_many = n;
    return false;
  }
  v.by_value = true;
  chosen = kernels_.choose(driver_, code_, call_.device, v, pack.entries);
  if (chosen->variant.generic) return false;
  driver_.launch(call_.device, *chosen->kernel, {packed.blocks, kStageThreads, packed.shared_bytes, true},
                 table.block().get(), call_.stream);
  return true;
}

bool StageLauncher::launch(const PackCall& pack, StageVariant v) {
  v.boxes = v.boxes && driver_.most_shared_bytes(call_.device) >= kBoxesMostShared;
  std::optional<StageKernels::Chosen> chosen;
  const size_t n = pack.run ? static_cast<size_t>(pack.run->samples) : pack.entries.size();
  v.one_row = can_share_row(code_, v, pack);
  if (launch_by_value(pack, v, n, chosen)) return true;
  if (!chosen) chosen = kernels_.choose(driver_, code_, call_.device, v, pack.entries);
  const bool of_form = pack.run ? pack.run->alike != nullptr : !pad_.alike.empty();
  if (of_form && chosen->variant.kind != StageVariant::Kind::tiled) return false;
  TableWriter table(nullptr, nullptr, pad_.table_capacity, pad_.table);
  const PackedTable packed = pack_table(code_, chosen->variant, pack, table);
  if (chosen->variant.generic) append_generic_program(code_, chosen->variant, table);
  pad_.table = table.block(), pad_.table_capacity = table.capacity();
  const auto on_device = driver_.table_on_device(call_.device, table.block().get(), table.size(), call_.stream);
  if (packed.fold_rows > 0) {
    const auto fold = kernels_.fold(driver_, call_.device);
    driver_.launch(call_.device, *fold, {(packed.fold_rows + kFoldThreads - 1) / kFoldThreads, kFoldThreads},
                   static_cast<const char*>(on_device.get()) + packed.fold_at, call_.stream);
  }
  driver_.launch(call_.device, *chosen->kernel, {packed.blocks, kStageThreads, packed.shared_bytes}, on_device.get(),
                 call_.stream);
  return true;
}

// Operands that an operator refuses are known once the kernel has run: this is the one stage that waits.
void StageLauncher::find_faults(const void* faults, std::vector<SampleError>& errors) {
  std::vector<int32_t> flags(call_.size);
  driver_.copy(call_.device, flags.data(), faults, flags.size() * sizeof(int32_t), call_.stream);
  driver_.synchronize(call_.device, call_.stream);
  for (int i = 0; i < call_.size; ++i)
    if (flags[i])
      for (const auto& node : code_.program.nodes)
        if (const char* what = node.op->fault(); *what) {
          Error e(ErrorKind::argument, what);
          e.op = node.op->info->name;
          errors.push_back({i, std::move(e)});
          break;
        }
}

}  // namespace penstock
