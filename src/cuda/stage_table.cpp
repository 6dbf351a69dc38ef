// SPDX-License-Identifier: Apache-2.0
#include "cuda/stage_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

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
    return axis_taps(FilterKind::nearest, false, 0, static_cast<double>(d.hi), d.hi, FilterBorder::clamp, nullptr, 0, d.hi);
  const DimFilter& f = g.filters[d.filter];
  return axis_taps(f.filter.kind, f.filter.antialias, f.filter.lo, f.filter.hi, f.filter.out, f.filter.border,
                   f.filter.window.data(), static_cast<int64_t>(f.filter.window.size()), f.in);
}

struct Tile {
  int width = 0, height = 0;
  size_t bytes = 0;  // of shared memory
};
constexpr size_t kTileBytes = 44 * 1024;  // so that several blocks share a multiprocessor
constexpr int kLargestWindow = 33;        // whose taps are kept in registers

using Path = StageVariant::Path;

// Floats of shared memory that a tile of this size needs.
size_t tile_bytes(const AxisTaps& x, const AxisTaps& y, double step_x, int planes, int width, int height, Path path) {
  size_t floats = width * (1 + static_cast<size_t>(x.taps)) + height * (1 + static_cast<size_t>(y.taps));
  if (path >= Path::shared) {
    const double columns = std::fabs(x.scale * step_x) * (width - 1) + x.taps + 2;
    floats += (static_cast<size_t>(std::min<double>(columns, static_cast<double>(x.in))) + 1) * planes * height;
  }
  if (path == Path::window) floats = std::max(floats, (static_cast<size_t>(width) + x.taps + 12) * planes * height);
  return floats * 4;
}

// The largest tile that fits; width 0: none does.
Tile choose_tile(const SampleGeometry& g, Path path) {
  const LoopDim &dy = g.dims[g.dims.size() - 2], &dx = g.dims.back();
  const AxisTaps x = taps_of(g, dx), y = taps_of(g, dy);
  const double step_x = dx.filter < 0 ? 1 : static_cast<double>(g.filters[dx.filter].step);
  Tile t{path == Path::window ? 128 : 64, path >= Path::shared ? 16 : 32, 0};
  while (t.width > 4 && t.width / 2 >= dx.extent) t.width /= 2;
  while (t.height > 1 && t.height / 2 >= dy.extent) t.height /= 2;
  for (;;) {
    t.bytes = tile_bytes(x, y, step_x, g.in_planes, t.width, t.height, path);
    if (t.bytes <= kTileBytes) return t;
    if (t.width == 1 && t.height == 1) return {};
    if (t.height > 8 || t.width == 1) t.height /= 2;
    else t.width /= 2;
  }
}

// A convolution of odd size, small enough for registers, without weights that must be left out.
bool is_window(const SampleGeometry& g, const LoopDim& d, DType type) {
  if (d.filter < 0) return true;
  const DimFilter& f = g.filters[d.filter];
  const auto& weights = f.filter.window;
  if (f.filter.kind != FilterKind::window || weights.size() % 2 == 0 || weights.size() > kLargestWindow || f.step != 1 ||
      f.filter.out != f.in || f.filter.lo != 0 || f.filter.hi != static_cast<double>(f.in))
    return false;
  return !is_float(type) || (weights.front() != 0 && weights.back() != 0);
}

Path path_of(const StageCode& code, const SampleGeometry& g) {
  if (g.indexed) return Path::indexed;
  const LoopDim &dy = g.dims[g.dims.size() - 2], &dx = g.dims.back();
  const AxisTaps x = taps_of(g, dx), y = taps_of(g, dy);
  const DType type = code.decodes ? code.program.nodes[0].op->decode_params().dtype : code.program.inputs[0].dtype;
  if (x.taps <= 2 && y.taps <= 2 && x.kind != FilterKind::window && y.kind != FilterKind::window) return Path::direct;
  return !g.fills && is_window(g, dx, type) && is_window(g, dy, type) ? Path::window : Path::shared;
}

bool can_tile(const StageCode& code, const SampleGeometry& g) {
  const size_t n = g.dims.size();
  if (code.source < 0 || g.affine || n < 2 || g.in_planes > 4) return false;
  for (size_t d = 0; d + 2 < n; ++d)
    if (g.dims[d].filter >= 0) return false;
  return choose_tile(g, std::max(path_of(code, g), Path::shared)).width > 0;
}

// The dimension that the CPU filters vertically: the second of the filtered ones and one more, from the innermost.
int vertical_dim(const SampleGeometry& g) {
  std::vector<int> dims;
  const int n = static_cast<int>(g.dims.size());
  for (int d = n - 1; d >= 0; --d)
    if (g.dims[d].filter >= 0 && dims.size() < 3) dims.push_back(d);
  for (int d = n - 1; d >= 0 && dims.size() < 3; --d)
    if (g.dims[d].filter < 0) {
      dims.push_back(d);
      break;
    }
  std::sort(dims.begin(), dims.end(), std::greater<>());
  return dims.size() > 1 && g.dims[dims[1]].filter >= 0 ? dims[1] : -1;
}

class Packer {
 public:
  explicit Packer(size_t reserve) { bytes.reserve(reserve); }
  int64_t append(const void* data, size_t n) {
    const size_t at = (bytes.size() + 15) / 16 * 16;
    bytes.resize(at + n);
    if (n) std::memcpy(bytes.data() + at, data, n);
    return static_cast<int64_t>(at);
  }
  std::byte* at(int64_t offset) { return bytes.data() + offset; }
  std::vector<std::byte> bytes;
};

size_t coefficient_bytes(const StageCode& code, const StageVariant& v) {
  size_t n = 0;
  for (const auto& i : code.code)
    if (i.kind == Instruction::tile)
      n += (code.program.nodes[i.node].op->coef_bytes(i.lane) * (code.traits[i.node].per_channel ? std::max(1, v.planes) : 1) + 15) / 16 * 16;
  return n;
}

void put_dim(int64_t* w, const LoopDim& d, int inputs) {
  w[0] = d.extent, w[1] = d.lo, w[2] = d.hi, w[3] = d.out_stride;
  for (int k = 0; k < inputs; ++k) w[4 + k] = d.in_stride[k];
}

// The taps of a dimension that has none of its own, where others have some.
TapTable plain_taps(const LoopDim& d) {
  TapTable t;
  t.taps = 1, t.copies = true;
  t.first.resize(std::max<int64_t>(0, d.hi - d.lo));
  for (size_t i = 0; i < t.first.size(); ++i) t.first[i] = static_cast<int32_t>(d.lo + static_cast<int64_t>(i));
  t.weight.assign(t.first.size(), 1.0f);
  return t;
}

}  // namespace

// What the threads of a sample count: positions, or groups of them.
static int64_t work_of(const StageCode& code, const StageVariant& v, const SampleGeometry& g) {
  const int64_t positions = g.positions(), q = group_positions(code, v);
  if (q == 1 || g.dims.empty() || positions == 0) return positions;
  const int64_t row = g.dims.back().extent;
  return positions / row * ((row + q - 1) / q);
}

// Large blocks hide what each spends on finding its entry; there must be enough of them for all multiprocessors.
static int64_t block_of(int64_t work, int64_t granule, int multiprocessors) {
  const int64_t blocks = int64_t{32} * multiprocessors;
  return std::clamp<int64_t>((work / blocks + granule - 1) / granule, 1, 16) * granule;
}

StageVariant variant_of(const StageCode& code, const SampleGeometry& g) {
  StageVariant v;
  const int inputs = static_cast<int>(code.program.inputs.size());
  v.wide = is_wide(g, inputs);
  v.narrow_source = code.source >= 0 && code.values[code.source].lane == Lane::f32;
  v.planes = g.has_plane || code.needs_channels ? g.in_planes : 1;
  v.out_planes = g.has_plane || code.needs_channels ? g.out_planes : 1;
  v.has_plane = g.has_plane;
  v.fills = g.fills;
  v.dims = static_cast<int>(g.dims.size());
  v.picks_planes = g.plane_pick >= 0;
  for (int d = 0; d < v.dims; ++d)
    if (g.dims[d].filter >= 0) v.filtered |= 1u << d;
  for (int d = 0; d < v.dims; ++d) {
    if (g.dims[d].axis == 0) v.warp_x = d;
    if (g.dims[d].axis == 1) v.warp_y = d;
    if (g.dims[d].axis == 2) v.warp_z = d;
  }
  if (g.affine) v.kind = StageVariant::Kind::warped;
  else if (can_tile(code, g)) {
    v.kind = StageVariant::Kind::tiled, v.filtered = 0;
    v.filter_x = static_cast<int>(taps_of(g, g.dims.back()).kind);
    v.filter_y = static_cast<int>(taps_of(g, g.dims[g.dims.size() - 2]).kind);
    v.path = path_of(code, g);
    if (v.path == Path::window) {
      const LoopDim &dy = g.dims[g.dims.size() - 2], &dx = g.dims.back();
      v.window_x = dx.filter < 0 ? 1 : static_cast<int>(g.filters[dx.filter].filter.window.size());
      v.window_y = dy.filter < 0 ? 1 : static_cast<int>(g.filters[dy.filter].filter.window.size());
    }
  }
  else if (code.source >= 0) v.kind = StageVariant::Kind::filtered, v.vertical = vertical_dim(g);
  else if (is_one_row(code, g)) v.kind = StageVariant::Kind::elements, v.dims = 1;
  if (v.kind == StageVariant::Kind::elements && inputs == 1 && !code.faults && !code.decodes &&
      code.program.inputs[0].dtype == DType::uint8) {
    int tiles = 0;
    for (const auto& i : code.code) tiles += i.kind == Instruction::tile;
    v.table = tiles >= 3;
  }
  return v;
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
  if (v.warp_x != other.warp_x || v.warp_y != other.warp_y || v.warp_z != other.warp_z) return false;
  if (v.path != other.path || v.window_x != other.window_x || v.window_y != other.window_y) {
    // Rows in shared memory do for all, but for wide numbers that must not become floats on their way.
    if ((v.path == Path::indexed || other.path == Path::indexed) && !v.narrow_source) return false;
    const bool direct = v.path <= Path::direct && other.path <= Path::direct;
    v.path = direct ? Path::direct : Path::shared;
    v.window_x = v.window_y = 0;
  }
  if (v.kind != other.kind) v.kind = Kind::positions, v.table = false;
  v.dims = std::max(v.dims, other.dims);
  v.filtered |= other.filtered;
  v.vertical = std::max(v.vertical, other.vertical);
  v.filter_x = common_filter(v.filter_x, other.filter_x), v.filter_y = common_filter(v.filter_y, other.filter_y);
  v.fills |= other.fills, v.wide |= other.wide, v.picks_planes |= other.picks_planes;
  return true;
}

PackedTable pack_table(const StageCode& code, const StageVariant& v, std::span<const SampleGeometry* const> samples,
                       int32_t* faults, int multiprocessors) {
  const EntryLayout at(code, v);
  const int inputs = at.inputs, n = static_cast<int>(samples.size());
  const size_t coef_bytes = coefficient_bytes(code, v);
  const DType out_type = type_of(code.program, code.program.outputs[0]).dtype;
  Packer p(sizeof(TableHeader) + n * (at.words * 8 + coef_bytes + 64) + 4096);
  const int64_t head = p.append(nullptr, 0);
  p.bytes.resize(sizeof(TableHeader));
  std::vector<int32_t> starts(n + 1);
  const int64_t starts_at = p.append(starts.data(), starts.size() * 4);
  const std::vector<int64_t> words(static_cast<size_t>(n) * at.words);
  const int64_t words_at = p.append(words.data(), words.size() * 8);
  PackedTable result;
  std::vector<int64_t> work(n);
  int64_t total = 0;
  for (int e = 0; e < n; ++e) total += work[e] = work_of(code, v, *samples[e]);
  const int64_t block = block_of(total, work_granule(code, v), multiprocessors);
  for (int e = 0; e < n; ++e) {
    const SampleGeometry& g = *samples[e];
    starts[e] = static_cast<int32_t>(result.blocks);
    const int64_t positions = g.positions();
    const bool tiled = v.kind == StageVariant::Kind::tiled;
    const Tile tile = tiled ? choose_tile(g, v.path) : Tile();
    if (tiled) {
      const int64_t w = g.dims.back().extent, h = g.dims[g.dims.size() - 2].extent;
      result.blocks += w && h ? positions / (w * h) * ((w + tile.width - 1) / tile.width) * ((h + tile.height - 1) / tile.height) : 0;
      result.shared_bytes = std::max(result.shared_bytes, tile.bytes);
    } else {
      result.blocks += (work[e] + block - 1) / block;
    }
    if (result.blocks >= kNarrow) bad_argument("a batch of more than 2^31 blocks of work");
    int64_t coefs = p.append(nullptr, 0);
    p.bytes.resize(coefs + coef_bytes);
    size_t offset = 0;
    for (const auto& i : code.code) {
      if (i.kind != Instruction::tile) continue;
      const StageNode& node = code.program.nodes[i.node];
      const int copies = code.traits[i.node].per_channel ? std::max(1, v.planes) : 1;
      SampleContext c = g.context;
      c.node = node.id;
      node.op->coef(c, i.lane, copies, p.at(coefs) + offset);
      offset += (node.op->coef_bytes(i.lane) * copies + 15) / 16 * 16;
    }
    int64_t fill = 0;
    if (v.fills) {
      const int64_t values = v.has_plane ? std::max<int64_t>(g.plane.extent, 1) : 1;
      std::vector<std::byte> held(values * size_of(out_type));
      const Shape s{values};
      fill_strided({held.data(), out_type, {}, s, dense_strides(s)}, g.fill_values, v.has_plane ? 0 : -1);
      fill = p.append(held.data(), held.size());
    }
    // Dimensions that this sample lacks are in front, with one position.
    const int missing = v.kind == StageVariant::Kind::elements ? 0 : v.dims - static_cast<int>(g.dims.size());
    std::vector<LoopDim> dims(missing);
    for (const auto& d : g.dims) dims.push_back(d);
    int64_t tap_words[Shape::kMaxDims][4] = {};
    int axis = 0;
    for (int d = v.dims - 1; d >= 0 && v.filtered; --d) {
      if (!(v.filtered >> d & 1)) continue;
      const LoopDim& dim = dims[d];
      const TapTable t = dim.filter < 0 ? plain_taps(dim) : g.filters[dim.filter].table(std::max<int64_t>(0, dim.hi - dim.lo));
      tap_words[axis][0] = t.taps;
      tap_words[axis][1] = p.append(t.first.data(), t.first.size() * 4);
      tap_words[axis][2] = p.append(t.weight.data(), t.weight.size() * 4);
      tap_words[axis][3] = dim.filter < 0 ? 1 : g.filters[dim.filter].tap_step;
      ++axis;
    }
    int64_t pick = 0;
    if (v.picks_planes) {
      std::vector<int32_t> planes(v.planes);
      const TapTable t = g.plane_pick < 0 ? TapTable() : g.filters[g.plane_pick].table(v.planes);
      for (int k = 0; k < v.planes; ++k)
        planes[k] = g.plane_pick < 0 ? k : static_cast<int32_t>(t.first[k] * g.filters[g.plane_pick].tap_step);
      pick = p.append(planes.data(), planes.size() * 4);
    }
    AxisTaps tap_axes[2];
    if (tiled)
      for (int k = 0; k < 2; ++k) {
        tap_axes[k] = taps_of(g, g.dims[g.dims.size() - 1 - k]);
        if (tap_axes[k].window)
          tap_axes[k].window = reinterpret_cast<const float*>(p.append(tap_axes[k].window, tap_axes[k].full * sizeof(float)));
      }
    auto* w = reinterpret_cast<int64_t*>(p.at(words_at)) + static_cast<int64_t>(e) * at.words;
    const auto in_bytes = [&](int k) {
      return static_cast<int64_t>(size_of(k == 0 && code.decodes ? code.program.nodes[0].op->decode_params().dtype
                                                                 : code.program.inputs[k].dtype));
    };
    for (int k = 0; k < inputs; ++k) {
      const char* base = g.in[k];
      // Planes that are read begin at the first valid one; the kernel counts them from 0.
      if (k == 0 && g.has_plane && g.plane_pick < 0) base += g.plane.lo * g.plane.in_stride[0] * in_bytes(0);
      w[at.in + k] = reinterpret_cast<int64_t>(base);
    }
    w[at.out] = reinterpret_cast<int64_t>(g.out);
    w[at.positions] = work[e];
    w[at.coefs] = coefs;
    if (v.fills) w[at.fill] = fill;
    if (code.faults) w[at.fault] = reinterpret_cast<int64_t>(faults + g.entry);
    if (v.filtered || tiled) w[at.indexed] = g.indexed;
    for (int k = 0; k < 2 && tiled; ++k) {
      int64_t* to = w + (k == 0 ? at.tile_x() : at.tile_y());
      std::memcpy(to, &tap_axes[k], sizeof tap_axes[k]);
      to += EntryLayout::kTapWords;
      const LoopDim& d = g.dims[g.dims.size() - 1 - k];
      const DimFilter* f = d.filter < 0 ? nullptr : &g.filters[d.filter];
      to[0] = f ? f->begin : d.lo, to[1] = f ? f->step : 1;
      to[2] = k == 0 ? tile.width : tile.height;
      to[3] = f ? f->tap_step * d.in_stride[0] : d.in_stride[0];
    }
    if (v.picks_planes) w[at.plane_pick] = pick;
    if (v.has_plane) {
      put_dim(w + at.plane, g.plane, inputs);
      if (g.plane.extent == g.plane.hi - g.plane.lo) w[at.plane] = v.out_planes;  // an operator may change their number
    }
    if (v.kind != StageVariant::Kind::elements)
      for (int d = 0; d < v.dims; ++d) put_dim(w + at.dim(d), dims[d], inputs);
    for (int k = 0; k < at.n_axes; ++k) std::memcpy(w + at.axis(k), tap_words[k], sizeof tap_words[k]);
    if (g.affine) {
      for (int k = 0; k < 12; ++k) w[at.affine + k] = std::bit_cast<int64_t>(g.affine->m[k]);
      for (int k = 0; k < 3; ++k) w[at.affine + 12 + k] = g.source_extent[k];
      float fills[1] = {g.fill_values.empty() ? 0.0f : g.fill_values[0]};
      // append() moves the block that w points into.
      const int64_t outside = p.append(fills, sizeof fills);
      w = reinterpret_cast<int64_t*>(p.at(words_at)) + static_cast<int64_t>(e) * at.words;
      w[at.affine + 15] = outside;
      w[at.affine + 16] = g.affine->kind == FilterKind::nearest;
      w[at.affine + 17] = g.affine->border_fill;
    }
  }
  starts[n] = static_cast<int32_t>(result.blocks);
  std::memcpy(p.at(starts_at), starts.data(), starts.size() * 4);
  const TableHeader header{n, starts_at, words_at, block};
  std::memcpy(p.at(head), &header, sizeof header);
  if (v.kind != StageVariant::Kind::tiled) result.shared_bytes = shared_bytes(code, v);
  result.bytes = std::move(p.bytes);
  return result;
}

}  // namespace penstock
