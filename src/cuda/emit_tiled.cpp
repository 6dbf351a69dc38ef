// SPDX-License-Identifier: Apache-2.0
// Height and width behind taps. A block makes one tile of the output: it computes the tile's taps into shared memory, filters
// the rows that the tile needs vertically into shared memory (each sample of the source is read once or twice, from the first
// cache), then horizontally, and runs the rest of the stage on the result. Filters of at most two taps each way read their
// samples directly. The order of sums is the CPU's.
#include "cuda/kernel_writer.h"

namespace penstock {
namespace {

class TiledKernel {
 public:
  explicit TiledKernel(KernelWriter& writer) : w(writer), v(writer.variant), at(writer.at) {}

  void write() {
    w.text += kTapFunctions;
    w.begin_kernel();
    setup();
    taps();
    w.line("  if (indexed) {{");
    outputs(Source::indexed);
    w.line("  }} else if (ax.taps <= 2 && ay.taps <= 2) {{");
    outputs(Source::direct);
    w.line("  }} else {{");
    vertical();
    w.line("    __syncthreads();");
    outputs(Source::shared);
    w.line("  }}");
    w.line("}}");
  }

 private:
  enum class Source { indexed, direct, shared };
  KernelWriter& w;
  const StageVariant& v;
  const EntryLayout& at;

  static constexpr const char* kTapFunctions = R"(
__device__ inline AxisTaps tile_axis(const char* table, const int64_t* words) {
  AxisTaps a = *reinterpret_cast<const AxisTaps*>(words);
  if (a.window) a.window = reinterpret_cast<const float*>(table + reinterpret_cast<int64_t>(a.window));
  return a;
}
// Taps of outputs [0, n) of a tile, weight k of output i at weight[k * pitch + i]. A kind that is known leaves the others'
// functions out of the kernel.
template <int kind>
__device__ PENSTOCK_NOINLINE void tile_taps(AxisTaps a, int64_t begin, int64_t step, int n, int pitch, int32_t* first, float* weight) {
  if (kind >= 0) a.kind = static_cast<FilterKind>(kind);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const OutputTaps t = output_taps(a, begin + step * i);
    first[i] = static_cast<int32_t>(t.first);
    const double sum = kernel_sum(a, t);
    for (int k = 0; k < a.taps; ++k) weight[k * pitch + i] = tap_weight(a, t, sum, k);
  }
}
)";
  int planes() const { return v.planes; }

  void setup() {
    const int outer = v.dims - 2, y = v.dims - 2, x = v.dims - 1;
    w.line("  const AxisTaps ax = tile_axis(table, s + {}), ay = tile_axis(table, s + {});", at.tile_x(), at.tile_y());
    w.line("  const int64_t* tx = s + {}; const int64_t* ty = s + {};", at.tile_x() + EntryLayout::kTapWords,
           at.tile_y() + EntryLayout::kTapWords);
    w.line("  const bool indexed = s[{}] != 0;", at.indexed);
    w.line("  const int tile_w = static_cast<int>(tx[2]), tile_h = static_cast<int>(ty[2]);");
    w.line("  const Index step_x = static_cast<Index>(tx[3]), step_y = static_cast<Index>(ty[3]);");
    w.line("  const Index width = static_cast<Index>(s[{}]), height = static_cast<Index>(s[{}]);", at.dim(x), at.dim(y));
    w.line("  const Index lo_x = static_cast<Index>(s[{}]), hi_x = static_cast<Index>(s[{}]);", at.dim(x) + 1, at.dim(x) + 2);
    w.line("  const Index lo_y = static_cast<Index>(s[{}]), hi_y = static_cast<Index>(s[{}]);", at.dim(y) + 1, at.dim(y) + 2);
    w.line("  const Index os_x = static_cast<Index>(s[{}]), os_y = static_cast<Index>(s[{}]);", at.dim(x) + 3, at.dim(y) + 3);
    if (v.has_plane) {
      w.line("  const Index pos = static_cast<Index>(s[{}]), plo = static_cast<Index>(s[{}]), pn = static_cast<Index>(s[{}]), "
             "ps = static_cast<Index>(s[{}]);", at.plane + 3, at.plane + 1, at.plane, at.plane + 4);
    } else {
      w.line("  const Index pos = 0, plo = 0, ps = 0;");
    }
    if (v.picks_planes) w.line("  const int32_t* pick = reinterpret_cast<const int32_t*>(table + s[{}]);", at.plane_pick);
    if (v.fills) w.line("  const {0}* fill = reinterpret_cast<const {0}*>(table + s[{1}]);", element(w.out_type()), at.fill);
    // The block's tile: blocks count tiles along x, then y, then the outer dimensions.
    w.line("  Index rest = static_cast<Index>(static_cast<int>(blockIdx.x) - starts[entry]);");
    w.line("  const Index tiles_x = (width + tile_w - 1) / tile_w, tiles_y = (height + tile_h - 1) / tile_h;");
    w.line("  const Index x0 = rest % tiles_x * tile_w; rest /= tiles_x;");
    w.line("  const Index y0 = rest % tiles_y * tile_h; rest /= tiles_y;");
    w.line("  bool whole = false;  // all of the tile is fill");
    for (int d = outer - 1; d >= 0; --d) {
      w.line("  {{ const Index e = static_cast<Index>(s[{}]), q = rest % e; rest /= e;", at.dim(d));
      w.line("    out += q * static_cast<Index>(s[{}]); in0 += q * static_cast<Index>(s[{}]);", at.dim(d) + 3, at.dim(d) + 4);
      if (v.fills) w.line("    whole |= q < static_cast<Index>(s[{}]) || q >= static_cast<Index>(s[{}]);", at.dim(d) + 1, at.dim(d) + 2);
      w.line("  }}");
    }
    w.line("  const int nx = static_cast<int>(width - x0 < tile_w ? width - x0 : tile_w);");
    w.line("  const int ny = static_cast<int>(height - y0 < tile_h ? height - y0 : tile_h);");
    w.line("  if (whole) {{");
    w.line("    for (int i = threadIdx.x; i < nx * ny; i += blockDim.x) {{");
    fill("    ", "(x0 + i % nx) * os_x + (y0 + i / nx) * os_y");
    w.line("    }}");
    w.line("    return;");
    w.line("  }}");
    // Outputs of the tile that read the input: [ax0, ax1) x [ay0, ay1), counted from the tile's corner.
    w.line("  const int bx = static_cast<int>(lo_x > x0 ? (lo_x - x0 < nx ? lo_x - x0 : nx) : 0);");
    w.line("  const int by = static_cast<int>(lo_y > y0 ? (lo_y - y0 < ny ? lo_y - y0 : ny) : 0);");
    w.line("  const int cx = static_cast<int>(hi_x - x0 < nx ? (hi_x - x0 > bx ? hi_x - x0 : bx) : nx);");
    w.line("  const int cy = static_cast<int>(hi_y - y0 < ny ? (hi_y - y0 > by ? hi_y - y0 : by) : ny);");
    w.line("  const int mx = cx - bx, my = cy - by;");
  }

  void fill(const std::string& indent, const std::string& offset) {
    if (!v.fills) return;
    w.line("{}  const Index o = {};", indent, offset);
    if (v.has_plane) w.line("{}  for (Index p = 0; p < pn; ++p) out[o + p * pos] = fill[p];", indent);
    else w.line("{}  out[o] = fill[0];", indent);
  }

  void taps() {
    w.line("  PENSTOCK_SHARED(int32_t, first_x);");
    w.line("  int32_t* first_y = first_x + tile_w;");
    w.line("  float* weight_x = reinterpret_cast<float*>(first_y + tile_h);");
    w.line("  float* weight_y = weight_x + tile_w * ax.taps;");
    w.line("  float* rows = weight_y + tile_h * ay.taps;");
    w.line("  tile_taps<{}>(ax, tx[0] + tx[1] * (x0 + bx - lo_x), tx[1], mx, tile_w, first_x, weight_x);", v.filter_x);
    w.line("  tile_taps<{}>(ay, ty[0] + ty[1] * (y0 + by - lo_y), ty[1], my, tile_h, first_y, weight_y);", v.filter_y);
    w.line("  __syncthreads();");
  }

  std::string plane_offset() const {
    if (!v.has_plane) return "0";
    return v.picks_planes ? "static_cast<Index>(pick[p]) * ps" : "p * ps";
  }
  std::string source(const std::string& offset) const {
    return w.loaded(0, Lane::f32, fmt::format("in0[{}]", offset));
  }

  // rows[j * pitch + column * planes + p]: column c of the tile's source columns, at output row j.
  void vertical() {
    w.line("    const int end_x = mx > 0 ? first_x[mx - 1] : 0, begin_x = mx > 0 ? first_x[0] : 0;");
    w.line("    const int low = mx > 0 ? (begin_x < end_x ? begin_x : end_x) : 0;");
    w.line("    const int columns = mx > 0 ? (begin_x < end_x ? end_x : begin_x) + ax.taps - low : 0;");
    w.line("    const int pitch = columns * {};", planes());
    w.line("    const int across = blockDim.x < 32 ? 1 : 32, down = blockDim.x / across;");
    w.line("    for (int j = threadIdx.x / across; j < my; j += down) {{");
    w.line("      int from = 0, to = ay.taps;");
    w.line("      while (from < ay.taps - 1 && weight_y[from * tile_h + j] == 0) ++from;");
    w.line("      while (to > from + 1 && weight_y[(to - 1) * tile_h + j] == 0) --to;");
    w.line("      const Index row = static_cast<Index>(first_y[j]) * step_y;");
    w.line("      for (int c = threadIdx.x % across; c < pitch; c += across) {{");
    w.line("        const int p = c % {0}; const int column = c / {0};", planes());
    w.line("        const Index q = row + static_cast<Index>(low + column) * step_x + {};", plane_offset());
    w.line("        float sum = weight_y[from * tile_h + j] * {};", source("q + from * step_y"));
    w.line("        for (int t = from + 1; t < to; ++t) sum = fma(weight_y[t * tile_h + j], {}, sum);", source("q + t * step_y"));
    w.line("        rows[j * pitch + c] = sum;");
    w.line("      }}");
    w.line("    }}");
  }

  void outputs(Source source_kind) {
    const Lane lane = w.code.values[w.code.source].lane;
    const char* V = number(lane);
    const int result = w.code.source, out_planes = std::max(1, v.out_planes);
    w.line("    for (int i = threadIdx.x; i < nx * ny; i += blockDim.x) {{");
    w.line("      const int x = i % nx, y = i / nx;");
    w.line("      const Index o = (x0 + x) * os_x + (y0 + y) * os_y;");
    if (v.fills) {
      w.line("      if (x < bx || x >= cx || y < by || y >= cy) {{");
      if (v.has_plane) w.line("        for (Index p = 0; p < pn; ++p) out[o + p * pos] = fill[p];");
      else w.line("        out[o] = fill[0];");
      w.line("        continue;");
      w.line("      }}");
    }
    w.line("      const int tap_x = x - bx, tap_y = y - by;");
    w.line("      {} v{}[{}];", V, result, planes());
    if (source_kind != Source::shared)
      w.line("      const Index corner = static_cast<Index>(first_y[tap_y]) * step_y + static_cast<Index>(first_x[tap_x]) * step_x;");
    w.line("      PENSTOCK_UNROLL");
    w.line("      for (int p = 0; p < {}; ++p) {{", planes());
    if (source_kind == Source::indexed) {
      w.line("        v{}[p] = {};", result, w.loaded(0, lane, fmt::format("in0[corner + {}]", plane_offset())));
    } else {
      if (source_kind == Source::direct) direct();
      else shared();
      w.line("        v{}[p] = change_lane<float, {}>(sum);", result, V);
    }
    w.line("      }}");
    w.instructions([](int) { return std::string("0"); }, "      ");
    if (out_planes == 1) w.line("      out[o + plo * pos] = {};", w.stored("0"));
    else w.line("      for (int p = 0; p < {}; ++p) out[o + (plo + p) * pos] = {};", out_planes, w.stored("p"));
    if (v.fills && v.has_plane) {
      w.line("      for (Index p = 0; p < plo; ++p) out[o + p * pos] = fill[p];");
      w.line("      for (Index p = plo + {}; p < pn; ++p) out[o + p * pos] = fill[p];", out_planes);
    }
    w.line("    }}");
  }

  // One or two taps each way. A vertical tap of weight zero is left out, as the CPU leaves it out.
  void direct() {
    w.line("        const Index q = corner + {};", plane_offset());
    w.line("        const float wy0 = weight_y[tap_y], wy1 = ay.taps > 1 ? weight_y[tile_h + tap_y] : 0.0f;");
    w.line("        const bool one = ay.taps < 2 || wy1 == 0, other = !one && wy0 == 0;");
    w.line("        auto column = [&](Index c) {{");
    w.line("          if (one) return wy0 * {};", source("c"));
    w.line("          if (other) return wy1 * {};", source("c + step_y"));
    w.line("          return fma(wy1, {}, wy0 * {});", source("c + step_y"), source("c"));
    w.line("        }};");
    w.line("        float sum = weight_x[tap_x] * column(q);");
    w.line("        if (ax.taps > 1) sum = fma(weight_x[tile_w + tap_x], column(q + step_x), sum);");
  }
  void shared() {
    w.line("        const float* r = rows + tap_y * pitch + (first_x[tap_x] - low) * {} + p;", planes());
    w.line("        float sum = weight_x[tap_x] * r[0];");
    w.line("        for (int t = 1; t < ax.taps; ++t) sum = fma(weight_x[t * tile_w + tap_x], r[t * {}], sum);", planes());
  }
};

}  // namespace

void write_tiled_kernel(KernelWriter& w) { TiledKernel(w).write(); }

}  // namespace penstock
