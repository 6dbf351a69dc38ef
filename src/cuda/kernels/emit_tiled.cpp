// SPDX-License-Identifier: Apache-2.0
// Height and width behind taps. A block makes one tile of the output: it computes the tile's taps into shared memory,
// filters the rows that the tile needs vertically into shared memory (each sample of the source is read once or twice,
// from the first cache), then horizontally, and runs the rest of the stage on the result. Filters of at most two taps
// each way read their samples directly; convolutions with a window know its size and keep what slides over it in
// registers. The order of sums is the CPU's.
#include "cuda/kernels/emit_tiled.h"

namespace penstock {

void TiledKernel::write() {
  w.source_within = v.averages && w.code.source_stays_bytes;
  w.begin_kernel();
  setup();
  switch (v.path) {
    case StageVariant::Path::indexed:
    case StageVariant::Path::direct:
    case StageVariant::Path::shared:
    case StageVariant::Path::window:
    case StageVariant::Path::sliding:
    case StageVariant::Path::streaming: break;  // templates (emit.cpp)
    case StageVariant::Path::resampled: resampled(); break;
  }
  w.line("}}");
}

void TiledKernel::setup() {
  const int outer = v.dims - 2, y = v.dims - 2, x = v.dims - 1;
  w.line("  const TileRow& tile = s.tile();");
  w.line("  const TileAxis tx = tile_axis({0}, tile.x), ty = tile_axis({0}, tile.y);",
         "table" + w.grown("window_step"));
  w.line("  const Index step_x = static_cast<Index>(tx.hop), step_y = static_cast<Index>(ty.hop);");
  w.line("  const int band = static_cast<int>(tile.band);");
  w.line("  const auto &dim_x = s.dim({}), &dim_y = s.dim({});", x, y);
  w.line("  const Index width = static_cast<Index>(dim_x.extent), height = static_cast<Index>(dim_y.extent);");
  w.line("  const Index os_x = static_cast<Index>(dim_x.out_stride), os_y = static_cast<Index>(dim_y.out_stride);");
  if (v.has_plane) {
    w.line(
        "  const Index pos = static_cast<Index>(s.plane().out_stride), plo = static_cast<Index>(s.plane().lo), pn = "
        "static_cast<Index>(s.plane().extent), ps = static_cast<Index>(s.plane().in_stride[0]);");
  } else {
    w.line("  const Index pos = 0, plo = 0, ps = 0;");
  }
  if (v.picks_planes) w.line("  const int32_t* pick = reinterpret_cast<const int32_t*>(table + s.plane_pick());");
  if (v.fills) w.line("  const {0}* fill = reinterpret_cast<const {0}*>(table + s.fill());", element(w.out_type()));
  // The block's tile: blocks count tiles along x, then y, then the outer dimensions.
  w.line("  Index rest = static_cast<Index>({});", w.first_block());
  w.line(
      "  const Index tiles_x = (width + tx.extent - 1) / tx.extent, tiles_y = (height + ty.extent - 1) / ty.extent;");
  w.line("  const Index x0 = rest % tiles_x * tx.extent; rest /= tiles_x;");
  w.line("  const Index y0 = rest % tiles_y * ty.extent; rest /= tiles_y;");
  w.line("  bool whole = false;  // all of the tile is fill");
  for (int d = outer - 1; d >= 0; --d) {
    w.line("  {{ const auto& dim = s.dim({});", d);
    w.line("    const Index e = static_cast<Index>(dim.extent), q = rest % e; rest /= e;");
    w.line("    out += q * static_cast<Index>(dim.out_stride); in0 += q * static_cast<Index>(dim.in_stride[0]);");
    if (v.fills) w.line("    whole |= q < static_cast<Index>(dim.lo) || q >= static_cast<Index>(dim.hi);");
    w.line("  }}");
  }
  w.line("  const int nx = static_cast<int>(width - x0 < tx.extent ? width - x0 : tx.extent);");
  w.line("  const int ny = static_cast<int>(height - y0 < ty.extent ? height - y0 : ty.extent);");
  // Outputs of the tile that read the input: [bx, cx) x [by, cy), counted from the tile's corner.
  if (v.fills) {
    w.line("  const Index lo_x = static_cast<Index>(dim_x.lo), hi_x = static_cast<Index>(dim_x.hi);");
    w.line("  const Index lo_y = static_cast<Index>(dim_y.lo), hi_y = static_cast<Index>(dim_y.hi);");
    w.line("  const int bx = static_cast<int>(lo_x > x0 ? (lo_x - x0 < nx ? lo_x - x0 : nx) : 0);");
    w.line("  const int by = static_cast<int>(lo_y > y0 ? (lo_y - y0 < ny ? lo_y - y0 : ny) : 0);");
    w.line("  const int cx = whole ? bx : static_cast<int>(hi_x - x0 < nx ? (hi_x - x0 > bx ? hi_x - x0 : bx) : nx);");
    w.line("  const int cy = whole ? by : static_cast<int>(hi_y - y0 < ny ? (hi_y - y0 > by ? hi_y - y0 : by) : ny);");
    w.line("  const Index tap_x0 = x0 + bx - lo_x, tap_y0 = y0 + by - lo_y;");
  } else {
    w.line("  const int bx = 0, by = 0, cx = nx, cy = ny;");
    w.line("  const Index tap_x0 = x0, tap_y0 = y0;");
  }
  w.line("  const int mx = cx - bx, my = cy - by;");
  w.line("  (void)whole;");
  w.line("  const bool beside = {}(step_x == {} || step_x == -{});", planes() > 1 ? "ps == 1 && " : "", planes(),
         planes());
  w.store_kinds("os_x");
}

void TiledKernel::taps() {
  w.line("  PENSTOCK_SHARED(int32_t, first_x);");
  w.line("  int32_t* first_y = first_x + nx;");
  w.line("  float* weight_x = reinterpret_cast<float*>(first_y + ny);");
  w.line("  float* weight_y = weight_x + nx * tx.taps.taps;");
  w.line("  tile_taps<{}>(tx.taps, tx.begin + tx.step * tap_x0, tx.step, mx, nx, first_x, weight_x);", v.filter_x);
  w.line(
      "  tile_taps<{}>(ty.taps, ty.begin + ty.step * tap_y0, ty.step, my, ny, first_y, weight_y, (mx + 31) / 32 * 32);",
      v.filter_y);
  w.line("  __syncthreads();");
}

std::string TiledKernel::plane_offset() const {
  if (!v.has_plane) return "0";
  return v.picks_planes ? "static_cast<Index>(pick[p]) * ps" : "p * ps";
}

std::string TiledKernel::byte_value(const std::string& word, const std::string& byte) const {
  return fmt::format(
      fmt::runtime(v.averages ? "small_byte({0}, {1})"
                              : "{1} % 3 == 0 ? static_cast<float>({0} >> 8 * ({1}) & 255) : byte_number({0}, {1})"),
      word, byte);
}

void TiledKernel::groups(int q, const Part& begin, const Part& value, const std::string& items,
                         const std::string& place) {
  if (place.empty()) {  // tiles are powers of two wide
    w.line("    const int across = (tx.extent + {}) / {}, shift = log2_of(across);", q - 1, q);
    w.line("    for (int i = threadIdx.x; i < across * nb; i += blockDim.x) {{");
    w.line("      const int y = y1 + (i >> shift), x = (i & (across - 1)) * {};", q);
  } else {
    w.line("    for (int i = threadIdx.x; i < {}; i += blockDim.x) {{", items);
    w.line("      {}", place);
  }
  w.line("      const int count = nx - x < {0} ? nx - x : {0};", q);
  w.line("      if (count <= 0) continue;");
  group(q, begin, value);
  w.line("    }}");
}
// One of them.
void TiledKernel::group(int q, const Part& begin, const Part& value, const Part& store) {
  w.line("      {}* to = out + ((x0 + x) * os_x + (y0 + y) * os_y);", element(w.out_type()));
  w.declare_results(q, "g", "      ");
  begin();
  w.line("      PENSTOCK_UNROLL");
  w.line("      for (int j = 0; j < {}; ++j) {{", q);
  w.line("        {} v{}[{}];", lane_number(), w.code.source, planes());
  value();
  w.instructions([](int) { return std::string("0"); }, "        ",
                 v.fills ? "x + j >= bx && x + j < cx && y >= by && y < cy" : "j < count");
  w.keep_result("g", "        ");
  w.line("      }}");
  w.finish_results("g", "      ");
  if (store) store();
  if (v.fills) w.line("      const bool full = count == {0} && y >= by && y < cy && x >= bx && x + {0} <= cx;", q);
  else w.line("      const bool full = count == {};", q);
  w.store_group(q, "g", "os_x", "x + j < bx || x + j >= cx || y < by || y >= cy");
}
// Taps of output j of a group; outputs that read nothing take those of one that does, or none.
void TiledKernel::tap_place() {
  if (!v.fills) {
    w.line("        {{ const int tap_x = x + j < nx ? x + j : nx - 1, tap_y = y;");
    return;
  }
  w.line("        int tap_x = x + j - bx, tap_y = y - by;");
  w.line("        if (mx <= 0 || my <= 0) {{ for (int p = 0; p < {}; ++p) v{}[p] = 0; }} else {{", planes(),
         w.code.source);
  w.line("        tap_x = tap_x < 0 ? 0 : tap_x < mx ? tap_x : mx - 1;");
  w.line("        tap_y = tap_y < 0 ? 0 : tap_y < my ? tap_y : my - 1;");
}
void TiledKernel::set_source() {
  w.line("          v{}[p] = change_lane<float, {}>(sum);", w.code.source, lane_number());
}

void write_tiled_kernel(KernelWriter& w) { TiledKernel(w).write(); }

}  // namespace penstock
