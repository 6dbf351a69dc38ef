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
#include "cuda/whole/numbers.h"

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
    p.outputs = {append_node(p, bind_op(get_op("copy"), {}), {0}, {})};
    auto code = std::make_unique<StageCode>();
    compile_stage(std::move(p), *code);
    return code;
  };
  using Codes = std::array<std::unique_ptr<StageCode>, 4>;
  static const auto& codes = *new Codes{make(1), make(2), make(4), make(8)};  // threads may copy while the program ends
  return *codes[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
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

// Side of a tile: the data in flight hides the memory's latency.
int side_of(size_t unit_bytes) { return unit_bytes <= 4 ? 64 : 32; }
enum TileWord {
  kTiles,
  kFrom,
  kTo,
  kAcross,
  kDown,
  kFromStride,
  kToStride,
  kOthers,
  kOther,
  kTileWords = kOther + 3 * Shape::kMaxDims
};

// `across` are neighbors in the source, `down` in the target; both count units of kPlanes elements.
constexpr const char* kTile = R"(
struct Unit { T v[kPlanes]; };
__device__ inline void run(const char* table) {
%ENTRY%
  const int64_t across = s[3], down = s[4], from_row = s[5], to_row = s[6], columns = (across + kSide - 1) / kSide,
      rows = (down + kSide - 1) / kSide;
  PENSTOCK_SHARED(Unit, tile);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t x = i % columns * kSide, y = i / columns % rows * kSide;
    int64_t rest = i / columns / rows;
    const T* from = reinterpret_cast<const T*>(s[1]) + x * kPlanes + y * from_row;
    T* to = reinterpret_cast<T*>(s[2]) + y * kPlanes + x * to_row;
    for (int d = 0; d < s[7]; ++d) {
      const int64_t k = rest % s[8 + 3 * d];
      rest /= s[8 + 3 * d];
      from += k * s[9 + 3 * d];
      to += k * s[10 + 3 * d];
    }
    const int width = across - x < kSide ? static_cast<int>(across - x) : kSide;
    const int height = down - y < kSide ? static_cast<int>(down - y) : kSide;
    #pragma unroll 8
    for (int item = threadIdx.x; item < kSide * kSide; item += blockDim.x) {
      const int c = item % kSide, r = item / kSide;
      if (c < width && r < height)
        tile[r * (kSide + 1) + c] = *reinterpret_cast<const Unit*>(from + c * kPlanes + r * from_row);
    }
    __syncthreads();
    #pragma unroll 8
    for (int item = threadIdx.x; item < kSide * kSide; item += blockDim.x) {
      const int r = item % kSide, c = item / kSide;
      if (c < width && r < height) *reinterpret_cast<Unit*>(to + r * kPlanes + c * to_row) = tile[r * (kSide + 1) + c];
    }
    __syncthreads();
  }
}
)";

// The conversions of the operator `cast`.
const StageCode& cast_code(DType from, DType to) {
  static std::mutex mutex;
  static auto* codes = new std::map<std::pair<DType, DType>, std::unique_ptr<StageCode>>;
  std::lock_guard lock(mutex);
  auto& code = (*codes)[{from, to}];
  if (!code) {
    const OpInfo& cast = get_op("cast");
    std::vector<Argument> args(cast.args.size());
    args.at(0).value = static_cast<int64_t>(to);
    StageProgram p;
    p.inputs = {{from, -1, {}}};
    p.outputs = {append_node(p, bind_op(cast, args), {0}, {})};
    code = std::make_unique<StageCode>();
    compile_stage(std::move(p), *code);
  }
  return *code;
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

void add_tile(const CopyStep& step, const SampleGeometry& g, int across, int side, EntryTable& entries) {
  const LoopDim &a = g.dims[across], &b = g.dims.back();
  int64_t tiles = ((a.extent + side - 1) / side) * ((b.extent + side - 1) / side), others = 0;
  for (int d = 0; d + 1 < g.dims.size(); ++d)
    if (d != across) tiles *= g.dims[d].extent;
  int64_t* w = entries.add(tiles);
  w[kFrom] = reinterpret_cast<int64_t>(step.from.data), w[kTo] = reinterpret_cast<int64_t>(step.to.data);
  w[kAcross] = a.extent, w[kDown] = b.extent;
  w[kFromStride] = b.in_stride[0], w[kToStride] = a.out_stride;
  for (int d = g.dims.size() - 2; d >= 0; --d) {
    if (d == across) continue;
    int64_t* other = w + kOther + 3 * others++;
    other[0] = g.dims[d].extent, other[1] = g.dims[d].in_stride[0], other[2] = g.dims[d].out_stride;
  }
  w[kOthers] = others;
}

}  // namespace

// All with the same source type and the same target type.
static void enqueue_alike(std::span<const CopyStep> steps, Launches& to) {
  if (steps.empty()) return;
  const DType from_type = steps[0].from.dtype, to_type = steps[0].to.dtype;
  const bool converts = from_type != to_type;
  const size_t bytes = size_of(from_type);
  const StageCode& code = converts ? cast_code(from_type, to_type) : copy_code(bytes);
  const std::string kind =
      converts ? fmt::format("cast {} {}", name_of(from_type), name_of(to_type)) : fmt::format("copy {}", bytes);
  thread_local StageSamples geometries;  // reused: they are large
  geometries.shrink(0);
  std::vector<StageEntry> entries;
  std::vector<StageVariant> variants;
  std::vector<size_t> group_of;
  std::vector<EntryTable> tiles(5, EntryTable(kTileWords));  // by planes
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
      add_tile(step, g, across, side_of(bytes * static_cast<size_t>(g.in_planes)), tiles[g.in_planes]);
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
  for (size_t planes = 1; planes < tiles.size(); ++planes) {
    if (tiles[planes].empty()) continue;
    const int side = side_of(bytes * planes);
    to.add(to.kernel(fmt::format("tile {} {}", bytes, planes),
                     [&] {
                       return whole_text(kTileWords,
                                         fmt::format("typedef {} T;\nconstexpr int kPlanes = {}, kSide = {};\n",
                                                     element(type_of_size(bytes)), planes, side) +
                                             with_entry(kTile));
                     }),
           tiles[planes], 1, planes * bytes * static_cast<size_t>(side) * (side + 1));
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
