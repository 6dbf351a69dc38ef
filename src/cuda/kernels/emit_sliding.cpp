// SPDX-License-Identifier: Apache-2.0
// Convolutions of few taps, of bytes. A warp goes down a strip of the image: a lane has the sums of a few neighbors for
// all rows that the source's row at hand belongs to, so that each sample is read and converted once. A row that is done
// is filtered horizontally, with what the lanes beside have by shuffles. The first and the last lane only serve their
// neighbors. What has folded taps, and what is less than a group, is left to edges().
#include "cuda/kernels/emit_tiled.h"

namespace penstock {

void TiledKernel::sliding() {
  const int P = planes(), nx = v.window_x, ny = v.window_y, q = sliding_group(P);
  auto interior = [&](const char* axis, const char* n, const char* from, int taps, int step, const char* low,
                      const char* high) {
    const int half = taps / 2;
    w.line("  int {1} = {0}, {2} = {0};", n, low, high);
    w.line("  if ({}.taps.in >= {}) {{", axis, taps);
    w.line("    const Index past = static_cast<Index>({}.taps.in) - {} - {};", axis, half, from);
    w.line("    {1} = {2} >= {3} ? 0 : {3} - {2} + {5} < {0} ? static_cast<int>({3} - {2} + {5}) / {4} * {4} : {0};", n,
           low, from, half, step, step - 1);
    w.line("    {2} = past >= {0} ? {0} / {3} * {3} : past > {1} ? static_cast<int>(past) / {3} * {3} : {1};", n, low,
           high, step);
    w.line("    if ({1} < {0}) {1} = {0};", low, high);
    w.line("  }}");
  };
  w.line("  const Index wx = static_cast<Index>(tx.begin) + x0, wy = static_cast<Index>(ty.begin) + y0;");
  w.line("  // Outputs [left, right) x [top, bottom) have no folded taps and are whole groups.");
  interior("tx", "nx", "wx", nx, q, "left", "right");
  interior("ty", "ny", "wy", ny, 1, "top", "bottom");
  edges();
  slide(q);
}

void TiledKernel::slide(int q) {
  const int P = planes(), nx = v.window_x, ny = v.window_y, E = q * P, K = E / 4, side = nx / 2 * P;
  const int D = ny;  // rows that are read ahead: as many as the loop is unrolled for, so that none moves from register
                     // to register
  const bool turns = K == 3 && w.out_type() == DType::uint8 && w.out_planes() == P;
  auto each = [&](const std::string& what) {
    w.line("        PENSTOCK_UNROLL");
    w.line("        for (int b = 0; b < {}; ++b) {}", E, what);
  };
  auto weights = [&](const char* axis, int n) {
    w.line("  float weight_{0}[{1}] = {{1.0f}};", axis, n);
    if (n > 1) w.line("  PENSTOCK_UNROLL for (int t = 0; t < {1}; ++t) weight_{0}[t] = t{0}.taps.window[t];", axis, n);
    if (v.averages)
      w.line("  PENSTOCK_UNROLL for (int t = 0; t < {1}; ++t) weight_{0}[t] *= {2};", axis, n,
             axis[0] == 'y' ? "kEnlarge" : "kReduce");
  };
  w.line("  {{");
  weights("x", nx), weights("y", ny);
  w.line("  const uint8_t* begin = in0 + (wx * {} - {});", P, q * P);
  w.line("  const int origin = static_cast<int>(wx * {} - {}), bytes = static_cast<int>(tx.taps.in) * {};", P, q * P,
         P);
  w.line(
      "  const bool turned = interleaved && all_planes && ((reinterpret_cast<uint64_t>(out) | (x0 * {} + y0 * os_y) | "
      "os_y) & 3) == 0; (void)turned;",
      P);
  w.line(
      "  const int first_word = (left + {0}) / {1} * 3, last_word = (right + {0}) / {1} * 3; (void)first_word; "
      "(void)last_word;",
      q, q);
  // Strips whose rows begin at words, with nothing to be left out, go without what others ask for each row.
  w.line(
      "  const bool plain = {}((reinterpret_cast<uint64_t>(begin) | step_y) & 3) == 0 && origin >= 0 && bytes - origin "
      ">= {};",
      turns ? "turned && " : "", 32 * E);
  w.line("  auto go = [&](auto known) {{");
  w.line("  constexpr bool easy = decltype(known)::value;");
  w.line("  for (int strip = threadIdx.x / 32; strip * band < bottom; strip += (blockDim.x + 31) / 32) {{");
  w.line(
      "    const int y1 = strip * band < top ? top : strip * band, y2 = strip * band + band < bottom ? strip * band + "
      "band : bottom;");
  w.line("    if (y1 >= y2) continue;");
  w.line("    const int n = y2 - y1 + {};", ny - 1);
  w.line(
      "    const uint8_t* next = begin + (wy + y1 - {}) * step_y + (easy ? lane_of(0) * {} : 0);  // the row to be "
      "read",
      ny / 2, E);
  if (turns)
    w.line("    uint8_t* row_to = out + ((x0 - {}) * {} + (y0 + y1) * os_y) + (easy ? lane_of(0) * 4 : 0);", q, P);
  w.line("    uint32_t shift = static_cast<uint32_t>(reinterpret_cast<uint64_t>(next)) * 8;  // of the row at hand");
  w.line("    uint32_t ahead[{}][{}][kOwnLanes];", D, K);
  w.line("    float sum[{}][{}][kOwnLanes];", ny, E);
  auto read = [&](const std::string& d) {
    w.line("          for (int u = 0; u < kOwnLanes; ++u) {{");
    w.line("            const int at = lane_of(u) * {0}, before = origin + at, after = bytes - before;", E);
    w.line("            if (easy) {{");
    w.line("              const uint32_t* words = reinterpret_cast<const uint32_t*>(next + u * {});", E);
    w.line("              for (int k = 0; k < {}; ++k) ahead[{}][k][u] = words[k];", K, d);
    w.line("            }} else row_words(next + at, before >= 0 && after >= {}, before, after, ahead[{}], u);", E + 4,
           d);
    w.line("          }}");
  };
  w.line("    PENSTOCK_UNROLL");
  w.line("    for (int d = 0; d < {}; ++d) {{", D);
  w.line("          if (d > 0) next += d < n ? step_y : Index(0);");
  read("d");
  w.line("    }}");
  w.line("    for (int r0 = 0; r0 < n; r0 += {}) {{", ny);
  w.line("      PENSTOCK_UNROLL");
  w.line("      for (int f = 0; f < {}; ++f) {{", ny);
  w.line("        const int r = r0 + f;");
  w.line("        if (r >= n) break;");
  w.line("        uint32_t words[{}][kOwnLanes];", K);
  w.line("        for (int u = 0; u < kOwnLanes; ++u) {{");
  w.line("          if (easy || (shift & 24) == 0) {{");
  w.line("            for (int k = 0; k < {}; ++k) words[k][u] = ahead[f][k][u];", K);
  w.line("          }} else {{");
  w.line("            const uint32_t last = of_lane(ahead[f][0], u, 1);");
  w.line(
      "            for (int k = 0; k < {0}; ++k) words[k][u] = shifted(ahead[f][k][u], k + 1 < {0} ? ahead[f][k + 1 < "
      "{0} ? k + 1 : k][u] : last, shift & 24);",
      K);
  w.line("          }}");
  w.line("        }}");
  w.line("        shift += static_cast<uint32_t>(step_y) * 8;");
  w.line("        if (easy || r + {} < n) {{  // the last row again", D);
  w.line("          next += r + {} < n ? step_y : Index(0);", D);
  read("f");
  w.line("        }}");
  w.line("        float done[{}][kOwnLanes];", E);
  w.line("        for (int u = 0; u < kOwnLanes; ++u) {{");
  w.line("        float value[{}];", E);
  each(fmt::format("value[b] = {};", byte_value("words[b / 4][u]", "b % 4")));
  w.line("        PENSTOCK_UNROLL");
  w.line("        for (int k = 0; k < {}; ++k) {{", ny);
  w.line("          const int t = (f - k + {0}) % {0};", ny);
  each("sum[k][b][u] = t == 0 ? weight_y[0] * value[b] : fma(weight_y[t], value[b], sum[k][b][u]);");
  w.line("        }}");
  each(fmt::format("done[b][u] = sum[(f + 1) % {}][b][u];", ny));
  w.line("        }}");
  w.line("        if (r < {}) continue;", ny - 1);
  w.line("        uint32_t own[3][kOwnLanes]; (void)own;");
  w.line("        for (int u = 0; u < kOwnLanes; ++u) {{");
  w.line("        float near[{}];", E + 2 * side);
  if (side) {
    w.line("        PENSTOCK_UNROLL");
    w.line(
        "        for (int b = 0; b < {}; ++b) near[b] = of_lane(done[{} + b], u, -1), near[{} + b] = of_lane(done[b], "
        "u, 1);",
        side, E - side, side + E);
  }
  each(fmt::format("near[{} + b] = done[b][u];", side));
  w.line("        const int x = lane_of(u) * {0} - {1}, y = y1 + r - {2}, count = x >= left && x < right ? {0} : 0;", q,
         q, ny - 1);
  if (!turns) w.line("        if (count == 0) continue;");
  group(
      q, [] {},
      [&] {
        w.line("        for (int p = 0; p < {}; ++p) {{", P);
        w.line("          float sum = weight_x[0] * near[j * {} + p];", P);
        w.line("          PENSTOCK_UNROLL");
        w.line("          for (int t = 1; t < {}; ++t) sum = fma(weight_x[t], near[(j + t) * {} + p], sum);", nx, P);
        set_source();
        w.line("        }}");
      },
      [&] {
        if (!turns) return;
        w.line("        if (easy || turned) {{");
        w.line("          struct Words {{ uint32_t v[3]; }};");
        w.line("          Vector<uint8_t, 12> bytes;");
        w.line("          for (int b = 0; b < 12; ++b) bytes.v[b] = g[b / 3][b % 3];");
        w.line("          const Words all = std::bit_cast<Words>(bytes);");
        w.line("          for (int k = 0; k < 3; ++k) own[k][u] = all.v[k];");
        w.line("          continue;");
        w.line("        }}");
      });
  w.line("        }}");
  if (turns) {
    w.line("        if (easy || turned) {{");
    w.line("          uint32_t mixed[3][kOwnLanes];");
    w.line("          turn_words(own, mixed);");
    w.line("          for (int u = 0; u < kOwnLanes; ++u)");
    w.line("            PENSTOCK_UNROLL");
    w.line("            for (int k = 0; k < 3; ++k) {{");
    w.line("              const int i = 32 * k + lane_of(u);");
    w.line(
        "              if (i >= first_word && i < last_word) reinterpret_cast<uint32_t*>(row_to)[easy ? 32 * k + u : "
        "i] = mixed[k][u];");
    w.line("            }}");
    w.line("        }}");
    w.line("        row_to += os_y;");
  }
  w.line("      }} }} }} }};");
  w.line("  if (left < right) {{");
  w.line("    if (plain) go(Known<1>());");
  w.line("    else go(Known<0>());");
  w.line("  }} }}");
}

// Outputs with folded taps, of rows above `top` and from `bottom` on, and of columns beside [left, right): each by
// itself.
void TiledKernel::edges() {
  const int nx = v.window_x, ny = v.window_y;
  w.line("  const int fx = left + nx - right, fy = top + ny - bottom;");
  w.line("  if (fx + fy > 0) {{");
  w.line("    PENSTOCK_SHARED(int32_t, first_x);");
  w.line("    int32_t* first_y = first_x + fx;");
  w.line("    float* folded_x = reinterpret_cast<float*>(first_y + fy);");
  w.line("    float* folded_y = folded_x + fx * tx.taps.taps;");
  w.line("    tile_taps<{}>(tx.taps, wx, 1, left, fx, first_x, folded_x);", v.filter_x);
  w.line("    tile_taps<{}>(tx.taps, wx + right, 1, nx - right, fx, first_x + left, folded_x + left);", v.filter_x);
  w.line("    tile_taps<{}>(ty.taps, wy, 1, top, fy, first_y, folded_y, 32);", v.filter_y);
  w.line("    tile_taps<{}>(ty.taps, wy + bottom, 1, ny - bottom, fy, first_y + top, folded_y + top, 32);", v.filter_y);
  w.line("    __syncthreads();");
  w.line("    const float one[1] = {{1.0f}};");
  groups(
      1, [] {},
      [&] {
        auto axis = [&](const char* name, const char* low, const char* high, const char* from, int taps) {
          w.line("        const bool inside_{0} = {0} >= {1} && {0} < {2};", name, low, high);
          w.line(
              "        const int folded_at_{0} = {0} < {1} ? {0} : {0} - {2} + {1}, hop_{0} = inside_{0} ? 1 : f{0};",
              name, low, high);
          w.line(
              "        const Index begin_{0} = inside_{0} ? {1} + {0} - {2} : "
              "static_cast<Index>(first_{0}[folded_at_{0}]);",
              name, from, taps / 2);
          w.line("        const float* weights_{0} = inside_{0} ? {1} : folded_{0} + folded_at_{0};", name,
                 taps > 1 ? fmt::format("t{}.taps.window", name) : "one");
        };
        axis("x", "left", "right", "wx", nx), axis("y", "top", "bottom", "wy", ny);
        w.line("        const uint8_t* corner = in0 + (begin_y * step_y + begin_x * {});", planes());
        w.line("        float result[{}];", planes());
        if (v.averages) {  // the usual numbers of taps
          w.line("        if (tx.taps.taps == {} && ty.taps.taps == {}) {{", nx, ny);
          w.line("          float of_x[{}], of_y[{}];", nx, ny);
          w.line("          PENSTOCK_UNROLL for (int a = 0; a < {}; ++a) of_x[a] = weights_x[a * hop_x];", nx);
          w.line("          PENSTOCK_UNROLL for (int b = 0; b < {}; ++b) of_y[b] = weights_y[b * hop_y];", ny);
          w.line("          for (int p = 0; p < {}; ++p) {{", planes());
          w.line("            float values[{}][{}];", nx, ny);
          w.line("            PENSTOCK_UNROLL for (int a = 0; a < {}; ++a)", nx);
          w.line(
              "              PENSTOCK_UNROLL for (int b = 0; b < {}; ++b) values[a][b] = static_cast<float>(corner[a * "
              "{} "
              "+ p + b * step_y]);",
              ny, planes());
          w.line("            float sum = 0;");
          w.line("            PENSTOCK_UNROLL for (int a = 0; a < {}; ++a) {{", nx);
          w.line("              float of_column = of_y[0] * values[a][0];");
          w.line(
              "              PENSTOCK_UNROLL for (int b = 1; b < {}; ++b) of_column = fma(of_y[b], values[a][b], "
              "of_column);",
              ny);
          w.line("              sum = a == 0 ? of_x[0] * of_column : fma(of_x[a], of_column, sum);");
          w.line("            }}");
          w.line("            result[p] = sum;");
          w.line("          }}");
          w.line("        }} else {{");
        } else {
          w.line("        {{");
        }
        w.line("        int from = 0, to_tap = ty.taps.taps;  // as the CPU leaves out outer taps of weight zero");
        w.line("        while (from < to_tap - 1 && weights_y[from * hop_y] == 0) ++from;");
        w.line("        while (to_tap > from + 1 && weights_y[(to_tap - 1) * hop_y] == 0) --to_tap;");
        w.line("        for (int p = 0; p < {}; ++p) {{", planes());
        w.line("          float sum = 0;");
        w.line("          for (int a = 0; a < tx.taps.taps; ++a) {{");
        w.line("            const uint8_t* column = corner + (a * {} + p);", planes());
        w.line("            float of_column = weights_y[from * hop_y] * {};",
               w.loaded(0, Lane::f32, "column[from * step_y]"));
        w.line(
            "            for (int b = from + 1; b < to_tap; ++b) of_column = fma(weights_y[b * hop_y], {}, of_column);",
            w.loaded(0, Lane::f32, "column[b * step_y]"));
        w.line("            sum = a == 0 ? weights_x[0] * of_column : fma(weights_x[a * hop_x], of_column, sum);");
        w.line("          }}");
        w.line("          result[p] = sum;");
        w.line("        }} }}");
        w.line("        for (int p = 0; p < {}; ++p) {{ const float sum = result[p];", planes());
        set_source();
        w.line("        }}");
      },
      "fy * nx + (ny - fy) * fx",
      "int x = i, y = 0; "
      "if (i < fy * nx) y = i / nx, x = i - y * nx, y = y < top ? y : y - top + bottom; "
      "else y = (i - fy * nx) / fx, x = i - fy * nx - y * fx, y += top, x = x < left ? x : x - left + right;");
  w.line("  }}");
}

}  // namespace penstock
