// SPDX-License-Identifier: Apache-2.0
// Copies between memory of any strides run as the stage of the operator `copy`, on elements of their size. Transposes
// and short runs that alternate have kernels of their own.
#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/stages/stage_table.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/interleaves.h"
#include "cuda/whole/transposes.h"

namespace penstock {
namespace {

// A stage of the operator `copy`; of `cast` between two types.
const StageCode& code_of(DType from, DType to) {
  static std::mutex mutex;
  // Never destroyed: threads may copy while the program ends.
  static auto* codes = new std::map<std::pair<DType, DType>, std::unique_ptr<StageCode>>;
  std::lock_guard lock(mutex);
  auto& code = (*codes)[{from, to}];
  if (!code) {
    const OpInfo& op = get_op(from == to ? "copy" : "cast");
    std::vector<Argument> args(from == to ? 0 : op.args.size());
    if (from != to) args.at(0).value = static_cast<int64_t>(to);
    StageProgram p;
    p.inputs = {{from, -1, {}}};
    p.outputs = {append_node(p, bind_op(op, args), {0}, {})};
    code = std::make_unique<StageCode>();
    compile_stage(std::move(p), *code);
  }
  return *code;
}

// Variants that differ in anything have kernels of their own: the number is that of the kernel among the code's.
size_t number_of(const StageCode& code, const StageVariant& v) {
  static std::mutex mutex;
  static auto* numbers = new std::map<std::pair<const StageCode*, StageVariant>, size_t>;
  std::lock_guard lock(mutex);
  return numbers->try_emplace({&code, v}, numbers->size()).first->second;
}

}  // namespace

// All with the same source type and the same target type.
static void enqueue_alike(std::span<const CopyStep> steps, Launches& to) {
  if (steps.empty()) return;
  const DType from_type = steps[0].from.dtype, to_type = steps[0].to.dtype;
  const bool converts = from_type != to_type;
  const size_t bytes = size_of(from_type);
  const StageCode& code = converts ? code_of(from_type, to_type) : code_of(type_of_size(bytes), type_of_size(bytes));
  const std::string kind =
      converts ? fmt::format("cast {} {}", name_of(from_type), name_of(to_type)) : fmt::format("copy {}", bytes);
  thread_local StageSamples geometries;  // reused: they are large
  geometries.shrink(0);
  std::vector<StageEntry> entries;
  std::vector<StageVariant> variants;
  std::vector<size_t> group_of;
  Transposes transposes;
  EntryTable<whole::InterleaveRow> interleaved;
  for (size_t i = 0; i < steps.size(); ++i) {
    const CopyStep& step = steps[i];
    if (const size_t taken = converts ? 0 : add_interleaved(steps.subspan(i), interleaved)) {
      i += taken - 1;
      continue;
    }
    StageSample& g = geometries.add();
    for (int d = 0; d < step.to.shape.size(); ++d) {
      LoopDim dim;
      dim.extent = dim.hi = step.to.shape[d];
      dim.out_stride = step.to.strides[d], dim.in_stride[0] = step.from.strides[d];
      g.dims.push_back(dim);
    }
    take_planes(g);
    merge_dims(g, 1);
    if (!converts && transposes.take(step, g, bytes)) continue;
    choose_variant(code, g);
    size_t k = 0;
    while (k < variants.size() && !unite(variants[k], g.variant)) ++k;
    if (k == variants.size()) variants.push_back(g.variant);
    group_of.push_back(k);
    StageEntry& e = entries.emplace_back();
    e.geometry = &g;
    e.in[0] = step.from.as<const char>();
    e.out = step.to.as<char>();
  }
  to.add({"interleave.h", "interleave"}, interleaved, 1, whole::kInterleavedBytes);
  transposes.add_to(to, bytes);
  for (size_t k = 0; k < variants.size(); ++k) {
    std::vector<StageEntry> group;
    for (size_t e = 0; e < entries.size(); ++e)
      if (group_of[e] == k) group.push_back(entries[e]);
    PackCall pack;
    pack.entries = group;
    pack.multiprocessors = to.driver().multiprocessors(to.device());
    pack.constant = true;
    TableWriter table = to.table();
    const StageVariant& v = variants[k];
    const PackedTable packed = pack_table(code, v, pack, table);
    to.add(to.kernel(fmt::format("{} {}", kind, number_of(code, v)), [&] { return emit_stage(code, v); }), table,
           packed.blocks, packed.shared_bytes);
  }
}

void enqueue_copies(std::span<const CopyStep> steps, Launches& to) {
  // Elements of one size together, and conversions between the same types: results of an operator may have several.
  const auto kind = [](const CopyStep& s) {
    const bool converts = s.from.dtype != s.to.dtype;
    return std::tuple(converts, converts ? s.from.dtype : DType::none, converts ? s.to.dtype : DType::none,
                      converts ? 0 : size_of(s.from.dtype));
  };
  std::map<decltype(kind(steps[0])), std::vector<CopyStep>> kinds;
  for (const CopyStep& s : steps) kinds[kind(s)].push_back(s);
  for (const auto& [_, alike] : kinds) enqueue_alike(alike, to);
}

}  // namespace penstock
