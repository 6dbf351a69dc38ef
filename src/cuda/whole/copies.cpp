// SPDX-License-Identifier: Apache-2.0
// Copies between memories of any strides run as the stage of the operator `copy`, on elements of their size.
#include <algorithm>

#include "cuda/stage_table.h"
#include "cuda/whole/device_work.h"

namespace penstock {
namespace {

DType type_of_size(size_t bytes) {
  switch (bytes) {
    case 1: return DType::uint8;
    case 2: return DType::uint16;
    case 4: return DType::uint32;
    default: return DType::uint64;
  }
}

const StageCode& copy_code(size_t bytes) {
  const auto make = [](size_t b) {
    StageProgram p;
    p.inputs = {{type_of_size(b), -1, {}}};
    p.outputs = {append_node(p, bind_op(get_op("copy"), {}), {0}, 0)};
    auto code = std::make_unique<StageCode>();
    compile_stage(std::move(p), *code);
    return code;
  };
  static const std::unique_ptr<StageCode> codes[] = {make(1), make(2), make(4), make(8)};
  return *codes[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

}  // namespace

void enqueue_copies(std::span<const CopyStep> steps, Launches& to) {
  if (steps.empty()) return;
  const size_t bytes = size_of(steps[0].from.dtype);  // of one operator: the same for all
  const StageCode& code = copy_code(bytes);
  GeometryList geometries;
  std::vector<StageEntry> entries;
  std::vector<StageVariant> variants;
  std::vector<size_t> group_of;
  for (const CopyStep& step : steps) {
    SampleGeometry& g = geometries.add();
    for (int d = 0; d < step.to.shape.size(); ++d) {
      LoopDim dim;
      dim.extent = dim.hi = step.to.shape[d];
      dim.out_stride = step.to.strides[d], dim.in_stride[0] = step.from.strides[d];
      g.dims.push_back(dim);
    }
    merge_dims(g, 1);
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
    const std::string name = fmt::format("copy {} {} {} {} {} {}", bytes, static_cast<int>(v.kind), v.dims, v.planes, v.has_plane, v.wide);
    to.add(to.kernel(name, [&] { return emit_stage(code, v); }), table, packed.blocks, packed.shared_bytes);
  }
}

}  // namespace penstock
