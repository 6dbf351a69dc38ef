// SPDX-License-Identifier: Apache-2.0
// Outputs of convolutions that have folded taps, of path `streaming`.
#include "cuda/kernels/emit_tiled.h"

namespace penstock {

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
