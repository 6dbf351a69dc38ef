// SPDX-License-Identifier: Apache-2.0
// Copies between memory of any strides run as the stage of the operator `copy`, on elements of their size. If neighbors
// in the source are far apart in the target and vice versa, tiles go through shared memory.
#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/stages/stage_table.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/kernels/tile.h"

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

// A few channels that are neighbors only in the source go through together, like those that are neighbors in the
// target.
void take_planes(SampleGeometry& g) {
  if (g.dims.size() < 2 || g.dims.back().in_stride[0] == 1) return;
  for (int d = 0; d + 1 < g.dims.size(); ++d) {
    const LoopDim dim = g.dims[d];
    if (dim.in_stride[0] != 1 || dim.extent > 4 || dim.extent == 1) continue;
    g.plane = dim, g.has_plane = true;
    g.in_planes = g.out_planes = static_cast<int>(dim.extent);
    FixedVector<LoopDim, Shape::kMaxDims> rest;
    for (int k = 0; k < g.dims.size(); ++k)
      if (k != d) rest.push_back(g.dims[k]);
    g.dims = std::move(rest);
    return;
  }
}

// The dimension of the source that goes across, for a sample that suits tiles; -1: it does not.
int tile_across(const SampleGeometry& g) {
  if (g.dims.size() < 2 || (g.has_plane && (g.plane.in_stride[0] != 1 || g.plane.out_stride != 1))) return -1;
  const int64_t unit = g.in_planes;
  const LoopDim& down = g.dims.back();
  if (down.out_stride != unit || down.in_stride[0] == unit || down.extent < 8) return -1;
  for (int d = 0; d + 1 < g.dims.size(); ++d)
    if (g.dims[d].in_stride[0] == unit && g.dims[d].extent >= 8) return d;
  return -1;
}

void add_tile(const CopyStep& step, const SampleGeometry& g, int across, int unit_bytes,
              EntryTable<whole::TileRow>& entries) {
  const int side = whole::tile_side(unit_bytes);
  const LoopDim &a = g.dims[across], &b = g.dims.back();
  int64_t tiles = ((a.extent + side - 1) / side) * ((b.extent + side - 1) / side);
  for (int d = 0; d + 1 < g.dims.size(); ++d)
    if (d != across) tiles *= g.dims[d].extent;
  whole::TileRow& row = entries.add(tiles);
  row.from = step.from.data, row.to = step.to.data;
  row.across = a.extent, row.down = b.extent;
  row.from_row = b.in_stride[0], row.to_row = a.out_stride;
  for (int d = g.dims.size() - 2; d >= 0; --d)
    if (d != across) row.other[row.others++] = {g.dims[d].extent, g.dims[d].in_stride[0], g.dims[d].out_stride};
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
  std::array<EntryTable<whole::TileRow>, 5> tiles;  // by planes
  for (const CopyStep& step : steps) {
    StageSample& g = geometries.add();
    for (int d = 0; d < step.to.shape.size(); ++d) {
      LoopDim dim;
      dim.extent = dim.hi = step.to.shape[d];
      dim.out_stride = step.to.strides[d], dim.in_stride[0] = step.from.strides[d];
      g.dims.push_back(dim);
    }
    take_planes(g);
    merge_dims(g, 1);
    if (const int across = converts ? -1 : tile_across(g); across >= 0) {
      add_tile(step, g, across, static_cast<int>(bytes) * g.in_planes, tiles[g.in_planes]);
      continue;
    }
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
  for (size_t planes = 1; planes < tiles.size(); ++planes)
    to.add({"tile.h", fmt::format("copy_tiles<{}, {}>", element(type_of_size(bytes)), planes)}, tiles[planes], 1,
           static_cast<size_t>(whole::tile_bytes(static_cast<int>(bytes * planes))));
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
    const std::string name =
        fmt::format("{} {} {} {} {} {}", kind, static_cast<int>(v.kind), v.dims, v.planes, v.has_plane, v.wide);
    to.add(to.kernel(name, [&] { return emit_stage(code, v); }), table, packed.blocks, packed.shared_bytes);
  }
}

void enqueue_copies(std::span<const CopyStep> steps, Launches& to) {
  std::vector<CopyStep> same, converted;  // for one operator: elements of one size, conversions between two types
  for (const CopyStep& s : steps) (s.from.dtype == s.to.dtype ? same : converted).push_back(s);
  enqueue_alike(same, to);
  enqueue_alike(converted, to);
}

}  // namespace penstock
