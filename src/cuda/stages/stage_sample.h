// SPDX-License-Identifier: Apache-2.0
// What a GPU adds to the geometry of a sample, and the entries of its tables.
#pragma once
#include "cuda/kernels/emit.h"
#include "stage/batch_geometry.h"

namespace penstock {

// What a block of a tiled kernel makes of the two innermost dimensions.
struct Tile {
  int width = 0, height = 0, band = 0;  // band: rows that are in shared memory at once
  size_t bytes = 0;                     // of shared memory
};
struct Tiling {
  AxisTaps x{}, y{};  // of the two
  Tile tile;          // where the text suits the sample alone
  bool gathers;       // wide elements whose planes lie side by side: path `shared` may take the taps alone
};

struct StageSample : SampleGeometry {
  // By choose_variant:
  StageVariant variant;  // the text that suits it, alone
  Tiling tiling;
  void clear() {
    SampleGeometry::clear();
    tiling.x.window = tiling.y.window = nullptr;
  }
};
using StageSamples = GeometryList<StageSample>;

// After it was copied: its taps refer to windows of its filters.
inline void refer_to_own_windows(StageSample& g) {
  const int n = g.dims.size();
  const auto own = [&](int d) { return g.filters[g.dims[d].filter].filter.window.data(); };
  if (g.tiling.x.window) g.tiling.x.window = own(n - 1);
  if (g.tiling.y.window) g.tiling.y.window = own(n - 2);
}

// The words of a geometry that comes again, as a table for this variant has them, but for addresses and offsets.
struct PackedWords {
  StageVariant variant;
  std::vector<int64_t> words;
};

// What a GPU says to BatchGeometry.
struct GpuGeometry {
  using Sample = StageSample;
  using Kept = PackedWords;
  static void finish(const StageCode& code, StageSample& g);
  static bool free_weights(const StageSample& g);
  static std::optional<FormTaps> form_taps(const StageCode& code, const StageSample& g);
  static void copied(StageSample& g) { refer_to_own_windows(g); }
};
using StageEntry = BatchEntry<GpuGeometry>;  // of a table
using StageRun = BatchRun<GpuGeometry>;

// Where a frame's planes are, and what the places of its pixels mean.
void put_frame(const SampleGeometry& g, FrameSourceRow& to);
// Writes the sample's numbers over those of its form, in the row of a tiled kernel.
void put_alike(const AlikeSample& sample, const StageRow<std::byte>& row);

}  // namespace penstock
