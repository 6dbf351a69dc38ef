// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/stage_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include "pixel/affine.h"

namespace penstock {
namespace {

constexpr int64_t kNarrow = int64_t{1} << 31;

bool is_one_row(const StageCode& code, const SampleGeometry& g) {
  if (g.has_plane || g.fills || g.affine || g.dims.size() > 1) return false;
  if (g.dims.empty()) return true;
  const LoopDim& d = g.dims[0];
  if (d.filter >= 0 || d.out_stride != 1) return false;
  for (size_t k = 0; k < code.program.inputs.size(); ++k)
    if (d.in_stride[k] != 1) return false;
  return true;
}

// Whether an offset may pass 2^31.
bool is_wide(const SampleGeometry& g, int inputs) {
  int64_t out = g.plane.extent * std::abs(g.plane.out_stride), in[kMaxStageInputs] = {};
  for (int k = 0; k < inputs; ++k) in[k] = g.plane.extent * std::abs(g.plane.in_stride[k]);
  in[0] += std::abs(g.frame.at);  // elsewhere a part of the address
  for (const auto& d : g.dims) {
    out += d.extent * std::abs(d.out_stride);
    // A filter reads anywhere in its input.
    for (int k = 0; k < inputs; ++k) {
      int64_t reach = d.extent;
      if (d.filter >= 0) reach = std::max<int64_t>(reach, g.filters[d.filter].in);
      if (d.axis >= 0) reach = std::max(reach, g.source_extent[d.axis]);
      in[k] += reach * std::abs(d.in_stride[k]);
    }
  }
  return out >= kNarrow || *std::max_element(in, in + kMaxStageInputs) >= kNarrow || g.positions() >= kNarrow;
}

AxisTaps taps_of(const SampleGeometry& g, const LoopDim& d) {
  if (d.filter < 0)  // a window: output o is sample o of it
    return axis_taps(FilterKind::nearest, false, 0, static_cast<double>(d.hi), d.hi, FilterBorder::clamp, nullptr, 0,
                     d.hi);
  const DimFilter& f = g.filters[d.filter];
  return axis_taps(f.filter, f.in);
}

constexpr size_t kTileBytes = 47 * 1024;  // so that several blocks share a multiprocessor
constexpr int kLargestWindow = 33;        // whose taps are kept in registers

using Path = StageVariant::Path;

// Bytes of shared memory that a tile needs. `gathers`: rows may have the taps of each output alone.
size_t tile_bytes(const AxisTaps& x, const AxisTaps& y, double step_x, int planes, const Tile& t, Path path,
                  bool gathers = false) {
  auto of_width = [&](int w) {
    size_t floats = w * (1 + static_cast<size_t>(x.taps)) + t.height * (1 + static_cast<size_t>(y.taps));
    if (path < Path::shared) return floats;
    double columns = std::fabs(x.scale * step_x) * (w - 1) + x.taps + 2;
    // Of two taps whatever the scale: samples alike share a tile.
    if (gathers && x.taps <= 2 && y.taps <= 2) return floats + 4 + kFetchedBytes / 4;
    if (gathers) columns = x.taps <= 2 ? w * x.taps : std::min(columns, static_cast<double>(w) * x.taps);
    return floats + 4 +
           (static_cast<size_t>(std::min<double>(columns, static_cast<double>(x.in))) * planes + 3) * t.band;
  };
  if (path == Path::resampled) {
    const size_t floats =
        (t.width + 1) / 2 * 2 * static_cast<size_t>(x.taps) + t.height * (3 + static_cast<size_t>(y.taps)) + t.width;
    return (floats + static_cast<size_t>(t.band)) * 4;
  }
  if (path == Path::sliding) {  // taps of the edges
    const int folded_x = x.taps + 2 * sliding_group(planes), folded_y = y.taps;
    return (static_cast<size_t>(folded_x) * (1 + x.taps) + folded_y * (1 + static_cast<size_t>(y.taps))) * 4;
  }
  if (path == Path::streaming) {  // rows, weights of rows and columns at the border
    const size_t rows = size_t{kStreamSlots} * 32 * kStreamBytes;
    return kStageThreads / 32 * (rows + y.taps * 4) + static_cast<size_t>(x.full) * (1 + x.full) * 4;
  }
  if (path != Path::window) return of_width(t.width) * 4;
  // Windows, rows, the rows' taps, those of columns at the border; or, of a narrow tile or of an image that is smaller
  // than the window, what other filters need.
  const int half = x.taps / 2, folded = std::min(t.width, 2 * (half + 3));
  const size_t row = static_cast<size_t>(window_lead(x.taps, planes)) + (t.width + half) * planes + 3;
  const size_t floats = x.taps + y.taps + 6 + row * t.band + t.height * (3 + static_cast<size_t>(y.taps)) +
                        folded * (1 + static_cast<size_t>(x.taps));
  const bool larger = x.in < x.full || y.in < y.full;
  return std::max(floats, of_width(larger ? t.width : std::min(t.width, 2 * half + 1))) * 4;
}

// A convolution of odd size, small enough for registers, without weights that must be left out.
bool is_window(const SampleGeometry& g, const LoopDim& d, DType type) {
  if (d.filter < 0) return true;
  const DimFilter& f = g.filters[d.filter];
  const auto& weights = f.filter.window;
  if (f.filter.kind != FilterKind::window || weights.size() % 2 == 0 || weights.size() > kLargestWindow ||
      f.step != 1 || f.filter.out != f.in || f.filter.lo != 0 || f.filter.hi != static_cast<double>(f.in))
    return false;
  return !is_float(type) || (weights.front() != 0 && weights.back() != 0);
}

// Weights that are not negative, whose sum is 1; those that are so small that sums of bytes lose bits where they are
// made of smaller numbers (kEnlarge in kernel_writer.cpp) do not count.
bool averages(const SampleGeometry& g, const LoopDim& d, const AxisTaps& taps) {
  switch (taps.kind) {
    case FilterKind::nearest:
    case FilterKind::linear:
    case FilterKind::triangular:
    case FilterKind::box:
    case FilterKind::hamming:
    case FilterKind::area:
    case FilterKind::area_linear:
    case FilterKind::gaussian: return true;
    case FilterKind::window: break;
    default: return false;
  }
  double sum = 0;
  for (float w : g.filters[d.filter].filter.window) {
    if (!(w >= 0) || (w > 0 && w < 0x1p-60f)) return false;
    sum += w;
  }
  return std::fabs(sum - 1) < 1e-4;
}

int window_size(const SampleGeometry& g, const LoopDim& d) {
  return d.filter < 0 ? 1 : static_cast<int>(g.filters[d.filter].filter.window.size());
}

constexpr int kWarps = kStageThreads / 32;

// `extent` in tiles of the same size, which is a multiple of `step` and at most `most`.
int even_tiles(int64_t extent, int most, int step) {
  const int64_t tiles = std::max<int64_t>(1, (extent + most - 1) / most);
  return static_cast<int>(std::max<int64_t>(1, (extent + tiles * step - 1) / (tiles * step)) * step);
}

// Each warp goes down its rows: as many as make those few that it reads beside them count little.
Tile sliding_tile(const StageSample& g, Path path) {
  constexpr int kRows = 46;
  const int height = even_tiles(g.dims[g.dims.size() - 2].extent, kRows * kWarps, kWarps);
  const int width = path == Path::streaming ? 30 * kStreamBytes / g.in_planes : 30 * sliding_group(g.in_planes);
  Tile t{width, height, height / kWarps, 0};
  t.bytes = tile_bytes(g.tiling.x, g.tiling.y, 1, g.in_planes, t, path);
  return t;
}

// Rows of all warps, then the taps. Width 0: wide tiles do not fit.
Tile resampled_tile(const StageSample& g) {
  const AxisTaps& x = g.tiling.x;
  const LoopDim& dx = g.dims.back();
  const double step_x = dx.filter < 0 ? 1 : static_cast<double>(g.filters[dx.filter].step);
  constexpr int kHeight = 64;
  for (int most : {64, 32}) {
    Tile t{even_tiles(dx.extent, most, 4), even_tiles(g.dims[g.dims.size() - 2].extent, kHeight, kResampledRows), 0, 0};
    const int chunk = resampled_chunk(g.in_planes);
    double columns = std::min(std::fabs(x.scale * step_x) * (t.width - 1) + x.taps + 2, static_cast<double>(x.in));
    if (x.taps <= chunk) columns = std::min(columns, static_cast<double>(t.width) * chunk);
    if (columns > kTileBytes) continue;
    const int pitch = (static_cast<int>(columns) + chunk) / chunk * chunk;
    for (int rows : {kResampledRows, kResampledRows / 2}) {
      t.band = pitch * g.in_planes * kWarps * rows;
      t.bytes = tile_bytes(x, g.tiling.y, step_x, g.in_planes, t, Path::resampled);
      if (t.bytes <= kTileBytes) return t;
    }
  }
  return {};
}

// Pixels that follow each other, or backward, planes side by side; nothing filled.
bool has_pixels_beside(const SampleGeometry& g) {
  const LoopDim& dx = g.dims.back();
  const int64_t hop = dx.in_stride[0] * (dx.filter < 0 ? 1 : dx.step);
  return !g.fills && g.plane_pick < 0 && std::abs(hop) == g.in_planes &&
         (g.in_planes == 1 || g.plane.in_stride[0] == 1);
}

// Bytes, the same forward.
bool lies_together(const StageCode& code, const SampleGeometry& g) {
  const LoopDim& dx = g.dims.back();
  return input_dtype(code, 0) == DType::uint8 && !code.reads_frames && has_pixels_beside(g) &&
         dx.in_stride[0] * (dx.filter < 0 ? 1 : dx.step) > 0;
}

bool can_resample_bytes(const StageCode& code, const StageSample& g) {
  return lies_together(code, g) && resampled_tile(g).width > 0;
}

// As many sums as registers hold, and no taps but the neighboring lanes'.
bool slides(const SampleGeometry& g, const LoopDim& dx, const LoopDim& dy) {
  constexpr int kSums = 64;
  const int planes = g.in_planes, own = sliding_group(planes) * planes, taps = window_size(g, dx);
  return window_size(g, dy) * own <= kSums && taps / 2 * planes + 3 <= own;
}

// To bytes again, all of them in range, and of a lane's neighbors no more than those beside it are wanted. Rows that
// begin anywhere go faster the other way.
bool streams(const StageCode& code, const StageSample& g, const LoopDim& dx, const LoopDim& dy) {
  if (dy.in_stride[0] % kStreamBytes != 0 || dy.out_stride % kStreamBytes != 0) return false;
  return code.code.empty() && type_of(code.program, code.program.outputs[0]).dtype == DType::uint8 &&
         g.in_planes == g.out_planes && averages(g, dx, g.tiling.x) && averages(g, dy, g.tiling.y) &&
         window_size(g, dy) <= kStreamTaps && window_size(g, dx) / 2 * g.in_planes <= 9;
}

Path path_of(const StageCode& code, const StageSample& g) {
  if (g.indexed) return Path::indexed;
  const LoopDim &dy = g.dims[g.dims.size() - 2], &dx = g.dims.back();
  const AxisTaps &x = g.tiling.x, &y = g.tiling.y;
  const DType type = input_dtype(code, 0);
  // Of wide elements neighboring threads read neighboring ones: in shared memory, of which a few taps need little.
  if (x.taps <= 2 && y.taps <= 2 && x.kind != FilterKind::window && y.kind != FilterKind::window)
    return g.tiling.gathers ? Path::shared : Path::direct;
  if (g.fills || code.reads_frames || !is_window(g, dx, type) || !is_window(g, dy, type))
    return can_resample_bytes(code, g) ? Path::resampled : Path::shared;
  if (!lies_together(code, g)) return Path::window;
  return streams(code, g, dx, dy) ? Path::streaming : slides(g, dx, dy) ? Path::sliding : Path::window;
}

// Whether a block can make tiles; sets g.tiling and the variant's path.
bool can_tile(const StageCode& code, StageSample& g) {
  const int n = g.dims.size();
  if (code.source < 0 || g.affine || n < 2 || g.in_planes > 4) return false;
  for (int d = 0; d + 2 < n; ++d)
    if (g.dims[d].filter >= 0) return false;
  new (&g.tiling.x) AxisTaps(taps_of(g, g.dims.back()));  // in place: copies wait for what was just stored
  new (&g.tiling.y) AxisTaps(taps_of(g, g.dims[n - 2]));
  g.tiling.gathers = input_dtype(code, 0) != DType::uint8 && has_pixels_beside(g);
  const Path path = path_of(code, g);
  g.tiling.tile = choose_tile(g, path);  // of at most two taps each way: rows in shared memory fit as well
  if (g.tiling.tile.width == 0) return false;
  g.variant.path = path;
  g.variant.resamples_bytes = path <= Path::resampled && can_resample_bytes(code, g);
  return true;
}

int64_t box_tiles(const SampleGeometry& g) {
  int64_t tiles = 1;
  for (int d = 0; d < g.dims.size(); ++d) {
    const int64_t n = g.dims[d].extent;
    tiles *= d + 2 < g.dims.size() ? n : (n + kBoxTile - 1) / kBoxTile;
  }
  return tiles;
}

// Whether blocks can have what their tiles read in shared memory, whatever tile it is.
bool has_boxes(const StageCode& code, const StageSample& g) {
  if (!warps_image(code, g.variant) || !code.source_stays_bytes || g.in_planes != 3 || g.fills || g.variant.wide ||
      (g.affine->kind != FilterKind::linear && g.affine->kind != FilterKind::nearest) || g.plane.in_stride[0] != 1 ||
      g.dims.back().in_stride[0] != 3 || !is_near(g) || box_tiles(g) > kMostBoxTiles)
    return false;
  const double* m = g.affine->m;
  // From the sample before the first position to the one after the last, beginning at a multiple of 4.
  const auto samples = [](double a, double b) {
    return std::floor((std::fabs(a) + std::fabs(b)) * (kBoxTile - 1) + 1e-3) + 3;
  };
  return samples(m[0], m[1]) + 3 <= kBoxPitch - 3 && samples(m[3], m[4]) <= kBoxRows;
}

// Pixels of three bytes to pixels of bytes, in rows that fill much of what a warp takes.
bool has_pixel_rows(const StageCode& code, const StageSample& g) {
  const StageVariant& v = g.variant;
  if (v.kind != StageVariant::Kind::positions || code.reads_frames || v.wide || v.fills || v.picks_planes ||
      !v.has_plane || code.faults || v.planes != 3 || (v.out_planes != 1 && v.out_planes != 3) ||
      code.program.inputs.size() != 1 || input_dtype(code, 0) != DType::uint8 ||
      type_of(code.program, code.program.outputs[0]).dtype != DType::uint8)
    return false;
  const LoopDim& row = g.dims.back();
  return row.extent >= kRowPixels / 8 && std::abs(row.in_stride[0]) == 3 && row.out_stride == v.out_planes &&
         g.plane.in_stride[0] == 1 && (v.out_planes == 1 || g.plane.out_stride == 1);
}

// Elements that are only moved, in rows that fill much of what a warp takes, or wide ones in pixels.
bool has_moved_rows(const StageCode& code, const StageSample& g) {
  const StageVariant& v = g.variant;
  if (v.kind != StageVariant::Kind::positions || code.reads_frames || v.wide || v.fills || v.picks_planes ||
      !code.only_copies || code.program.inputs.size() != 1)
    return false;
  const LoopDim& row = g.dims.back();
  const auto element = static_cast<int64_t>(size_of(input_dtype(code, 0)));
  if (v.planes == 1)
    return !v.has_plane && v.out_planes == 1 && row.in_stride[0] == 1 && row.out_stride == 1 &&
           row.extent * element >= kMovedBytes / 8;
  if (element < 4 || !v.has_plane || v.planes < 2 || v.planes > 4 || v.out_planes != v.planes) return false;
  return std::abs(row.in_stride[0]) == v.planes && row.out_stride == v.planes && g.plane.in_stride[0] == 1 &&
         g.plane.out_stride == 1;
}

// Whether the stage is one pixel function that only reverses the channels of bytes, in all samples: the CPU moves them,
// too.
bool reverses_channels(const StageCode& code) {
  if (code.program.nodes.size() != 1 || !code.traits[0].mixes_channels || code.traits[0].per_channel) return false;
  const auto tile = std::ranges::find(code.code, Instruction::tile, &Instruction::kind);
  const BoundOp& op = *code.program.nodes[0].op;
  if (tile == code.code.end() || op.coefs_vary() || code.has_frames) return false;
  std::vector<std::byte> coef(op.coef_bytes(tile->lane));
  op.coef({}, tile->lane, 1, coef.data());
  int from[3];
  return op.moves_channels(tile->lane, coef.data(), from) && from[0] == 2 && from[1] == 1;
}

}  // namespace

bool is_near(const SampleGeometry& g) {
  bool near = g.affine->dims == 2;
  for (int a = 0; near && a < 2; ++a) {
    const double* row = g.affine->m + 3 * a;
    const double reach = std::fabs(row[0]) * static_cast<double>(g.dims.back().extent) +
                         std::fabs(row[1]) * static_cast<double>(g.dims[g.dims.size() - 2].extent) + std::fabs(row[2]);
    near = reach < kAffineReach / 2;
  }
  return near;
}

double most_scale_of_bytes(const StageCode& code, const StageSample& g) {
  if (!lies_together(code, g)) return std::numeric_limits<double>::infinity();
  StageSample other = g;
  other.tiling.x.in = kNarrow;
  constexpr double kAny = 1e6;
  for (double scale : {kAny, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0}) {
    other.tiling.x.scale = scale;
    if (resampled_tile(other).width > 0) return scale < kAny ? scale : std::numeric_limits<double>::infinity();
  }
  return 0;
}

int vertical_dim(const SampleGeometry& g) {
  FixedVector<int, 4> dims;
  const int n = g.dims.size();
  for (int d = n - 1; d >= 0; --d)
    if (g.dims[d].filter >= 0 && dims.size() < 3) dims.push_back(d);
  for (int d = n - 1; d >= 0 && dims.size() < 3; --d)
    if (g.dims[d].filter < 0) {
      dims.push_back(d);
      break;
    }
  for (int i = dims.size() - 1; i > 0 && dims[i] > dims[i - 1]; --i) std::swap(dims[i], dims[i - 1]);  // descending
  return dims.size() > 1 && g.dims[dims[1]].filter >= 0 ? dims[1] : -1;
}

Tile choose_tile(const StageSample& g, Path path) {
  const LoopDim &dy = g.dims[g.dims.size() - 2], &dx = g.dims.back();
  const double step_x = dx.filter < 0 ? 1 : static_cast<double>(g.filters[dx.filter].step);
  if (path >= Path::sliding) return sliding_tile(g, path);
  if (path == Path::resampled) return resampled_tile(g);
  Tile t{path == Path::window ? 128 : 64, path == Path::window && g.tiling.y.taps <= 16 ? 128 : 64,
         path >= Path::shared ? 16 : 64, 0};
  // Even tiles: a multiprocessor takes a few of them, and those that got the small ones waited for the others.
  if (path <= Path::direct) t.width = kDirectWidth, t.height = t.band = even_tiles(dy.extent, kDirectHeight, 1);
  // Rows with many taps take long: more blocks share them more evenly. But taps of a tile take long too: 32 rows count
  // more than 64 columns.
  const bool many = path == Path::shared && g.tiling.y.taps > 8;
  const int low = many ? 32 : 16;
  if (many) t.height = low;
  while (t.width > 4 && t.width / 2 >= dx.extent) t.width /= 2;
  while (t.height > 1 && t.height / 2 >= dy.extent) t.height /= 2;
  for (;;) {
    t.band = std::min(t.band, t.height);
    t.bytes = tile_bytes(g.tiling.x, g.tiling.y, step_x, g.in_planes, t, path, g.tiling.gathers);
    if (t.bytes <= kTileBytes) return t;
    if (t.width == 1 && t.height == 1) return {};
    if (t.band > 8 && path >= Path::shared) t.band /= 2;
    else if (t.height > low || t.width == 1) t.height /= 2;
    else t.width /= 2;
  }
}

void choose_variant(const StageCode& code, StageSample& g) {
  StageVariant& v = g.variant;
  v = {};
  const int inputs = static_cast<int>(code.program.inputs.size());
  v.wide = is_wide(g, inputs);
  v.narrow_source = code.source >= 0 && code.values[code.source].lane == Lane::f32;
  v.planes = g.has_plane || code.needs_channels ? g.in_planes : 1;
  v.out_planes = g.has_plane || code.needs_channels ? g.out_planes : 1;
  v.has_plane = g.has_plane;
  v.fills = g.fills;
  v.dims = g.dims.size();
  v.picks_planes = g.plane_pick >= 0;
  for (int d = 0; d < v.dims; ++d)
    if (g.dims[d].filter >= 0) v.filtered |= 1u << d;
  for (int d = 0; d < v.dims; ++d) {
    if (g.dims[d].axis >= 0 && (g.dims[d].start != 0 || g.dims[d].step != 1))  // the planner makes no such stage
      fail(ErrorKind::internal, "a kernel of a warp counts its positions from the first one");
    if (g.dims[d].axis == 0) v.warp_x = d;
    if (g.dims[d].axis == 1) v.warp_y = d;
    if (g.dims[d].axis == 2) v.warp_z = d;
  }
  if (g.affine) {
    v.kind = StageVariant::Kind::warped;
    v.nearest = g.affine->kind == FilterKind::nearest, v.boxes = has_boxes(code, g);
  } else if (can_tile(code, g)) {
    v.kind = StageVariant::Kind::tiled, v.filtered = 0;
    v.filter_x = static_cast<int>(g.tiling.x.kind);
    v.filter_y = static_cast<int>(g.tiling.y.kind);
    v.averages = averages(g, g.dims.back(), g.tiling.x) && averages(g, g.dims[g.dims.size() - 2], g.tiling.y);
    if (v.path >= Path::window) {
      const LoopDim &dy = g.dims[g.dims.size() - 2], &dx = g.dims.back();
      v.window_x = window_size(g, dx), v.window_y = window_size(g, dy);
    }
  } else if (code.source >= 0) v.kind = StageVariant::Kind::filtered, v.vertical = vertical_dim(g);
  else if (!code.reads_frames && is_one_row(code, g)) v.kind = StageVariant::Kind::elements, v.dims = 1;
  // A chain of several operators on bytes is a table of its 256 results (for each channel).
  if (v.kind <= StageVariant::Kind::positions && inputs == 1 && v.planes <= 4 && !code.faults && !code.decodes &&
      !code.reads_frames && code.program.inputs[0].dtype == DType::uint8) {
    int tiles = 0;
    bool mixes = false;
    for (const auto& i : code.code) tiles += i.kind == Instruction::tile;
    for (const auto& t : code.traits) mixes |= t.mixes_channels;
    v.table = tiles >= 2 && !mixes;
  }
  v.pixel_rows = has_pixel_rows(code, g), v.moved_rows = has_moved_rows(code, g);
  v.reverses = v.pixel_rows && v.out_planes == 3 && reverses_channels(code);
}

// One kind for both: linear and triangular are the same kernel with radii of their own.
static int common_filter(int a, int b) {
  constexpr auto linear = static_cast<int>(FilterKind::linear), triangular = static_cast<int>(FilterKind::triangular);
  if (a == b) return a;
  return (a == linear || a == triangular) && (b == linear || b == triangular) ? triangular : -1;
}

bool unite(StageVariant& v, const StageVariant& other) {
  using Kind = StageVariant::Kind;
  if (v.planes != other.planes || v.out_planes != other.out_planes || v.has_plane != other.has_plane) return false;
  const bool plain = v.kind <= Kind::positions && other.kind <= Kind::positions;
  if (v.kind != other.kind && !plain) return false;
  if (!plain && v.dims != other.dims) return false;
  if (v.warp_x != other.warp_x || v.warp_y != other.warp_y || v.warp_z != other.warp_z || v.nearest != other.nearest)
    return false;
  const bool windows = v.path >= Path::window && other.path >= Path::window;
  if (windows) v.path = std::min(v.path, other.path);
  if ((v.path != other.path && !windows) || v.window_x != other.window_x || v.window_y != other.window_y) {
    // Rows in shared memory do for all, but for wide numbers that must not become floats on their way.
    if ((v.path == Path::indexed || other.path == Path::indexed) && !v.narrow_source) return false;
    const bool direct = v.path <= Path::direct && other.path <= Path::direct;
    const bool resampled =
        v.path <= Path::resampled && other.path <= Path::resampled && v.resamples_bytes && other.resamples_bytes;
    v.path = direct ? Path::direct : resampled ? Path::resampled : Path::shared;
    v.window_x = v.window_y = 0;
  }
  if (v.kind != other.kind) v.kind = Kind::positions;
  v.table &= other.table;
  v.dims = std::max(v.dims, other.dims);
  v.filtered |= other.filtered;
  v.vertical = std::max(v.vertical, other.vertical);
  v.filter_x = common_filter(v.filter_x, other.filter_x), v.filter_y = common_filter(v.filter_y, other.filter_y);
  v.averages &= other.averages, v.resamples_bytes &= other.resamples_bytes;
  v.boxes &= other.boxes && v.dims == other.dims;
  v.moved_rows &= other.moved_rows;
  v.pixel_rows &= other.pixel_rows, v.reverses &= other.pixel_rows && other.reverses;
  v.fills |= other.fills, v.wide |= other.wide, v.picks_planes |= other.picks_planes;
  return true;
}

}  // namespace penstock
