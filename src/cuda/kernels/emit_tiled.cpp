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
    case StageVariant::Path::shared: break;  // templates
    case StageVariant::Path::window:
      w.line("  const Index wx = static_cast<Index>(tx.begin) + x0, wy = static_cast<Index>(ty.begin) + y0;");
      // Taps that fold onto the image need as many samples as there are taps; of a narrow tile's not all are beside it.
      w.line(
          "  const bool fits = tx.taps.in >= {0} && ty.taps.in >= {1} && (nx > {2} || (wx >= {2} && wx + nx + {2} <= "
          "tx.taps.in));",
          v.window_x, v.window_y, v.window_x / 2);
      w.line("  if (fits) {{");
      window();
      w.line("  }} else {{");
      taps();
      general();
      w.line("  }}");
      break;
    case StageVariant::Path::sliding: sliding(); break;
    case StageVariant::Path::streaming: streaming(); break;
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

// rows[j * pitch + c * planes + p]: plane p of output row j, column c of the source columns that the tile needs, in the
// order of memory. Rows of a tile that are in shared memory at once: outputs [y1, y1 + nb).
void TiledKernel::begin_bands() {
  w.line("    for (int y1 = 0; y1 < ny; y1 += band) {{");
  w.line("    const int nb = ny - y1 < band ? ny - y1 : band;");
  w.line("    if (y1 > 0) __syncthreads();");
}

void TiledKernel::general() {
  w.line("    const int end_x = mx > 0 ? first_x[mx - 1] : 0, begin_x = mx > 0 ? first_x[0] : 0;");
  w.line("    const int low = begin_x < end_x ? begin_x : end_x;");
  w.line("    const int columns = mx > 0 ? (begin_x < end_x ? end_x : begin_x) + tx.taps.taps - low : 0;");
  w.line("    const int pitch = (columns * {} + 3) / 4 * 4;", planes());
  w.line(
      "    float* rows = reinterpret_cast<float*>(first_x) + (nx * (1 + tx.taps.taps) + ny * (1 + ty.taps.taps) + 3) / "
      "4 * 4;");
  w.line(
      "    const {}* corner = in0 + (step_x < 0 ? static_cast<Index>(low + columns - 1) : static_cast<Index>(low)) * "
      "step_x;",
      element(type));
  w.line("    const Index forward = step_x < 0 ? -step_x : step_x;");
  begin_bands();
  // Rows of the input that the band reads.
  w.line("    const int j0 = y1 > by ? (y1 - by < my ? y1 - by : my) : 0;");
  w.line("    const int j1 = y1 + nb > by ? (y1 + nb - by < my ? y1 + nb - by : my) : 0;");
  w.line(
      "    {{ const int across = blockDim.x < 32 ? 1 : 32, down = blockDim.x / across, lane = threadIdx.x % across;");
  w.line("      for (int j = j0 + threadIdx.x / across; j < j1; j += down) {{");
  w.line("        int from = 0, to = ty.taps.taps;");
  w.line("        while (from < ty.taps.taps - 1 && weight_y[from * ny + j] == 0) ++from;");
  w.line("        while (to > from + 1 && weight_y[(to - 1) * ny + j] == 0) --to;");
  w.line("        const {}* row = corner + (static_cast<Index>(first_y[j]) + from) * step_y;", element(type));
  const bool words = bytes && !v.picks_planes;
  if (words) {
    w.line("        if (beside) {{");
    w.line("          const int n = columns * {};", planes());
    w.line("          for (int c = lane * 8; c + 8 <= n; c += across * 8) {{");
    w.line("            float sum[8];");
    w.line("            const uint8_t* q = row + c;");
    w.line("            float weight = weight_y[from * ny + j];");
    w.line("            EightBytes word = eight_bytes_at(q);");
    w.line(
        "            for (int b = 0; b < 8; ++b) sum[b] = weight * byte_number(b < 4 ? word.low : word.high, b & 3);");
    w.line("            PENSTOCK_UNROLL_TWICE");
    w.line("            for (int t = from + 1; t < to; ++t) {{");
    w.line("              q += step_y, weight = weight_y[t * ny + j], word = eight_bytes_at(q);");
    w.line(
        "              for (int b = 0; b < 8; ++b) sum[b] = fma(weight, byte_number(b < 4 ? word.low : word.high, b & "
        "3), sum[b]);");
    w.line("            }}");
    w.line("            for (int b = 0; b < 8; b += 4)");
    w.line(
        "              *reinterpret_cast<Vector<float, 4>*>(rows + (j - j0) * pitch + c + b) = {{sum[b], sum[b + 1], "
        "sum[b + 2], sum[b + 3]}};");
    w.line("          }}");
    w.line("          for (int c = n / 8 * 8 + lane; c < n; c += across) {{");
    w.line("            float sum = weight_y[from * ny + j] * byte_number(row[c], 0);");
    w.line("            for (int t = from + 1; t < to; ++t)");
    w.line("              sum = fma(weight_y[t * ny + j], byte_number(row[c + (t - from) * step_y], 0), sum);");
    w.line("            rows[(j - j0) * pitch + c] = sum;");
    w.line("          }}");
    w.line("        }} else");
  }
  w.line("        for (int p = 0; p < {}; ++p)", planes());
  w.line("          for (int c = lane; c < columns; c += across) {{");
  w.line("            const {}* q = row + c * forward + {};", element(type), plane_offset());
  w.line("            float sum = weight_y[from * ny + j] * {};", w.loaded(0, Lane::f32, "*q"));
  w.line("            for (int t = from + 1; t < to; ++t) sum = fma(weight_y[t * ny + j], {}, sum);",
         w.loaded(0, Lane::f32, "q[(t - from) * step_y]"));
  w.line("            rows[(j - j0) * pitch + c * {} + p] = sum;", planes());
  w.line("          }}");
  w.line("      }} }}");
  w.line("    __syncthreads();");
  groups(
      2, [] {},
      [&] {
        tap_place();
        w.line("        const int column = first_x[tap_x] - low;");
        if (v.fills) w.line("        tap_y = tap_y < j0 ? j0 : tap_y < j1 ? tap_y : j1 > j0 ? j1 - 1 : j0;");
        w.line(
            "        const float* r = rows + (tap_y - j0) * pitch + (step_x < 0 ? columns - 1 - column : column) * {};",
            planes());
        w.line("        const int hop = step_x < 0 ? -{0} : {0};", planes());
        w.line("        float sums[{}];", planes());
        w.line("        float weight = weight_x[tap_x];");
        w.line("        for (int p = 0; p < {}; ++p) sums[p] = weight * r[p];", planes());
        w.line("        for (int t = 1; t < tx.taps.taps; ++t) {{");
        w.line("          r += hop, weight = weight_x[t * nx + tap_x];");
        w.line("          for (int p = 0; p < {}; ++p) sums[p] = fma(weight, r[p], sums[p]);", planes());
        w.line("        }}");
        w.line("        for (int p = 0; p < {}; ++p) {{ const float sum = sums[p];", planes());
        set_source();
        w.line("        }}");
        w.line("        }}");
      });
  w.line("    }}");
}

void write_tiled_kernel(KernelWriter& w) { TiledKernel(w).write(); }

}  // namespace penstock
