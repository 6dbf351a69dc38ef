// SPDX-License-Identifier: Apache-2.0
// The table of a stage's kernel, for host and device: a header, one row for each entry, and data that the rows refer to
// by offsets in bytes from the beginning of the table.
#pragma once
#include "pixel/taps.h"

namespace penstock {

constexpr int kMostInputs = 4;

// A table begins with this. `block`: the work of a block, except in tiled kernels; `program`: what the generic kernel
// interprets.
struct TableHeader {
  int64_t entries, starts, rows, block, program;
  // With StageVariant::one_row: blocks of each entry, and the bytes by which addresses and offsets grow from entry to
  // entry.
  int64_t blocks, in_step[kMostInputs], out_step, coefs_step, window_step, fault_step;
};

// The parts of a row, in this order. Only the first one is always there: RowLayout.
struct RowHead {
  char* out;
  int64_t positions;  // or groups of them
  int64_t coefs;
  const char* in[kMostInputs];  // a row has those of its stage's inputs only
};
// One dimension: outputs [lo, hi) read the input, the others are fill.
struct LoopRow {
  int64_t extent, lo, hi, out_stride;
  int64_t in_stride[kMostInputs];  // as RowHead::in
};
// The taps of a filtered dimension. Output i, counted from lo, has the samples from first[i] on.
struct TapsRow {
  int64_t taps, first, weight, step;
};
// Taps [from, to) of an output.
struct TapRange {
  int from, to;
};
// Of n taps down an image, whose weights are `hop` apart: as the CPU, without outer ones of weight zero.
PENSTOCK_HD inline TapRange weighted_taps(const float* weights, int hop, int n) {
  int from = 0, to = n;
  while (from < n - 1 && weights[from * hop] == 0) ++from;
  while (to > from + 1 && weights[(to - 1) * hop] == 0) --to;
  return {from, to};
}
// What an affine map reads.
struct WarpSource {
  int64_t extent[3];  // x, y, z
  int64_t fill, nearest, border_fill;
  int64_t near;  // no position is cut
};
struct WarpRow {
  double m[12];
  WarpSource source;
};
// The same for StageVariant::boxes. The reciprocals are float32: of the tiles of a row, and of the rows of tiles.
struct BoxRow {
  double m[6];
  int64_t step_x, step_y;
  float tiles_across, unused_across, tiles_down, unused_down;
  double unused[2];
  WarpSource source;
};
// One of the two axes of a tiled kernel. The window of its taps is an offset.
struct TileAxisRow {
  AxisTaps taps;
  int64_t begin, step;  // the filter's output for the first output that reads the input, and the step to the next
  int64_t extent;       // of the tile
  int64_t hop;          // source elements from tap to tap
};
struct TileRow {
  TileAxisRow x, y;
  int64_t band;  // rows that are in shared memory at once
};
// Where the planes of a frame are (operator/pixel_source.h), and what the places of its pixels mean
// (stage/frame_pixels.h).
struct FrameSourceRow {
  int64_t plane[3], pitch[2], frame, row_shift, frame_shift;
  int64_t at;  // of the first pixel that is read
};
static_assert(sizeof(FrameSourceRow) == 9 * 8);
static_assert(sizeof(TableHeader) == 14 * 8 && sizeof(RowHead) == 7 * 8 && sizeof(LoopRow) == 8 * 8 &&
              sizeof(TapsRow) == 4 * 8 && sizeof(WarpRow) == 19 * 8 && sizeof(BoxRow) == sizeof(WarpRow) &&
              sizeof(AxisTaps) == 8 * 8 && sizeof(TileRow) == 25 * 8);
// Elements of a row in shared memory before a tile's first column, of a convolution with this many taps.
PENSTOCK_HD constexpr int window_lead(int taps, int planes) { return (taps / 2 * planes + 3) / 4 * 4; }

// Which parts a row has and where, in bytes.
struct RowLayout {
  int inputs = 1, dims = 0, axes = 0;  // axes: filtered dimensions
  bool fills = false, faults = false, filters = false, picks_planes = false, has_plane = false, warps = false,
       tiles = false, frames = false;

  PENSTOCK_HD constexpr int fill() const { return 8 * (3 + inputs); }
  PENSTOCK_HD constexpr int fault() const { return fill() + 8 * fills; }
  PENSTOCK_HD constexpr int indexed() const { return fault() + 8 * faults; }
  PENSTOCK_HD constexpr int plane_pick() const { return indexed() + 8 * filters; }
  PENSTOCK_HD constexpr int plane() const { return plane_pick() + 8 * picks_planes; }
  PENSTOCK_HD constexpr int dim(int d) const { return plane() + loop_bytes() * (has_plane + d); }
  PENSTOCK_HD constexpr int axis(int k) const { return dim(dims) + static_cast<int>(sizeof(TapsRow)) * k; }
  PENSTOCK_HD constexpr int warp() const { return axis(axes); }
  PENSTOCK_HD constexpr int tile() const { return warp() + (warps ? static_cast<int>(sizeof(WarpRow)) : 0); }
  PENSTOCK_HD constexpr int frame() const { return tile() + (tiles ? static_cast<int>(sizeof(TileRow)) : 0); }
  PENSTOCK_HD constexpr int bytes() const { return frame() + (frames ? static_cast<int>(sizeof(FrameSourceRow)) : 0); }

 private:
  PENSTOCK_HD constexpr int loop_bytes() const { return 8 * (4 + inputs); }
};

template <class Byte> struct PartOf {
  template <class T> using type = T;
};
template <class Byte> struct PartOf<const Byte> {
  template <class T> using type = const T;
};
// One row, as its parts. Byte: char where it is written, const char where it is read.
template <class Byte> struct StageRow {
  template <class T> using Part = typename PartOf<Byte>::template type<T>;
  RowLayout at;
  Byte* row;

  PENSTOCK_HD Part<RowHead>& head() const { return part<RowHead>(0); }
  PENSTOCK_HD Part<int64_t>& fill() const { return part<int64_t>(at.fill()); }
  PENSTOCK_HD Part<int32_t*>& fault() const { return part<int32_t*>(at.fault()); }
  PENSTOCK_HD Part<int64_t>& indexed() const { return part<int64_t>(at.indexed()); }  // every filter picks one sample
  PENSTOCK_HD Part<int64_t>& plane_pick() const { return part<int64_t>(at.plane_pick()); }
  PENSTOCK_HD Part<LoopRow>& plane() const { return part<LoopRow>(at.plane()); }
  PENSTOCK_HD Part<LoopRow>& dim(int d) const { return part<LoopRow>(at.dim(d)); }
  PENSTOCK_HD Part<TapsRow>& axis(int k) const { return part<TapsRow>(at.axis(k)); }
  PENSTOCK_HD Part<WarpRow>& warp() const { return part<WarpRow>(at.warp()); }
  PENSTOCK_HD Part<BoxRow>& box() const { return part<BoxRow>(at.warp()); }
  PENSTOCK_HD Part<TileRow>& tile() const { return part<TileRow>(at.tile()); }
  PENSTOCK_HD Part<FrameSourceRow>& frame() const { return part<FrameSourceRow>(at.frame()); }

 private:
  template <class T> PENSTOCK_HD Part<T>& part(int offset) const { return *reinterpret_cast<Part<T>*>(row + offset); }
};

}  // namespace penstock
