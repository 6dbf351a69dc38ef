// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/transposes.h"

#include "cuda/kernels/kernel_writer.h"

namespace penstock {
namespace {

// The channels that go through together are not neighbors in the target.
bool has_apart(const SampleGeometry& g) { return g.has_plane && g.plane.out_stride != 1; }

// The dimension of the source that goes across, for a sample that suits tiles; -1: it does not.
int tile_across(const SampleGeometry& g, size_t bytes) {
  if (g.dims.size() < 2 || (g.has_plane && g.plane.in_stride[0] != 1)) return -1;
  if (has_apart(g) && bytes >= 4) return -1;  // words are copied one by one as fast
  const int64_t unit = g.in_planes;
  const LoopDim& down = g.dims.back();
  if (down.out_stride != (has_apart(g) ? 1 : unit) || down.in_stride[0] == unit || down.extent < 8) return -1;
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

// A transpose by words, of units whose parts are together in the target.
void add_turned(const CopyStep& step, const SampleGeometry& g, int across, int64_t bytes,
                EntryTable<whole::TurnedRow>& entries) {
  const int64_t side = whole::turned_side(static_cast<int>(bytes * g.in_planes));
  const LoopDim &a = g.dims[across], &b = g.dims.back();
  int64_t tiles = ((a.extent + side - 1) / side) * ((b.extent + side - 1) / side);
  for (int d = 0; d + 1 < g.dims.size(); ++d)
    if (d != across) tiles *= g.dims[d].extent;
  whole::TurnedRow& row = entries.add(tiles);
  row.from = step.from.data, row.to = step.to.data;
  row.across = a.extent, row.down = b.extent;
  row.from_row = b.in_stride[0] * bytes, row.to_row = a.out_stride * bytes;
  if (has_apart(g)) row.to_plane = g.plane.out_stride * bytes;
  for (int d = g.dims.size() - 2; d >= 0; --d)
    if (d != across)
      row.other[row.others++] = {g.dims[d].extent, g.dims[d].in_stride[0] * bytes, g.dims[d].out_stride * bytes};
}

}  // namespace

DType type_of_size(size_t bytes) {
  switch (bytes) {
    case 1: return DType::uint8;
    case 2: return DType::uint16;
    case 4: return DType::uint32;
    default: return DType::uint64;
  }
}

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

bool Transposes::take(const CopyStep& step, const SampleGeometry& g, size_t bytes) {
  const int across = tile_across(g, bytes);
  if (across < 0) return false;
  const int unit = static_cast<int>(bytes) * g.in_planes;
  if (unit % 4 == 0 && !has_apart(g)) {
    add_tile(step, g, across, unit, tiles_[g.in_planes]);
    return true;
  }
  const int part = has_apart(g) ? static_cast<int>(bytes) : unit;
  add_turned(step, g, across, static_cast<int64_t>(bytes), turned_[{unit, part}]);
  return true;
}

void Transposes::add_to(Launches& to, size_t bytes) const {
  for (size_t planes = 1; planes < tiles_.size(); ++planes)
    to.add({"tile.h", fmt::format("copy_tiles<{}, {}>", element(type_of_size(bytes)), planes)}, tiles_[planes], 1,
           static_cast<size_t>(whole::tile_bytes(static_cast<int>(bytes * planes))));
  for (const auto& [sizes, entries] : turned_)
    to.add({"turned.h", fmt::format("copy_turned<{}, {}>", sizes.first, sizes.second)}, entries, 1,
           static_cast<size_t>(whole::turned_bytes(sizes.first)));
}

}  // namespace penstock
