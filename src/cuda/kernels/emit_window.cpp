// SPDX-License-Identifier: Apache-2.0
// Convolutions: all outputs have the same weights but those at the border, whose taps fold onto the image. A row of the
// tile in shared memory is what the source's row is, planes side by side: rows[j * pitch + c], where `lead` elements
// before the tile's first column come first. A thread filters four elements of eight rows at once, each sample of the
// source converted once for them, then four pixels of a row from neighbors that pass through registers.
#include "cuda/kernels/emit_tiled.h"

namespace penstock {

namespace {
constexpr int kRows = 8;
}

// One way to filter vertically: `wide` elements from element c on, where `condition` holds; `value` declares what row
// `at` of the source has there.
void TiledKernel::window_rows(const std::string& condition, int wide, const std::string& begin,
                              const std::string& value) {
  const int ny = v.window_y, half = ny / 2;
  auto all = [&](const std::string& what) {
    w.line("          PENSTOCK_UNROLL for (int b = 0; b < {}; ++b) {}", wide, what);
  };
  w.line("    {} {{", condition);
  if (wide > 1) w.line("      const int c0 = low / {0} * {0}, chunks = (high - c0 + {1}) / {0};", wide, wide - 1);
  else w.line("      const int c0 = low, chunks = high - low;");
  w.line("      for (int i = threadIdx.x; i < chunks * ((nb + {}) / {}); i += blockDim.x) {{", kRows - 1, kRows);
  w.line("        int j = y1, k = i;");
  w.line("        while (k >= chunks) k -= chunks, j += {};", kRows);
  w.line("        const int c = c0 + {} * k;", wide);
  w.line("        {}", begin);
  w.line("        if (j + {0} <= y1 + nb && wy + j >= {1} && wy + j + {2} < ty.taps.in) {{", kRows, half,
         kRows - 1 + half);
  w.line("          float sum[{}][{}];", kRows, wide);
  w.line("          const Index top = wy + j - {};", half);
  w.line("          PENSTOCK_UNROLL");
  w.line("          for (int r = 0; r < {}; ++r) {{", kRows + ny - 1);
  w.line("          const Index at = top + r;");
  w.line("          {}", value);
  w.line("          PENSTOCK_UNROLL");
  w.line("          for (int k = 0; k < {}; ++k) {{", kRows);
  w.line("          const int t = r - k;");
  w.line("          if (t == 0) {{");
  all("sum[k][b] = weight[0] * value[b];");
  w.line("          }} else if (t > 0 && t < {}) {{", ny);
  all("sum[k][b] = fma(weight[t], value[b], sum[k][b]);");
  w.line("          }} }} }}");
  w.line("          PENSTOCK_UNROLL");
  w.line("          for (int k = 0; k < {}; ++k) {{", kRows);
  if (wide == 4)
    w.line(
        "          *reinterpret_cast<Vector<float, 4>*>(rows + (j - y1 + k) * pitch + c) = {{sum[k][0], sum[k][1], "
        "sum[k][2], sum[k][3]}};");
  else all("rows[(j - y1 + k) * pitch + c + b] = sum[k][b];");
  w.line("          }}");
  w.line("        }} else {{");
  w.line("          for (int k = j; k < j + {} && k < y1 + nb; ++k) {{", kRows);
  w.line("          float sum[{}];", wide);
  w.line("          for (int t = from_y[k]; t < to_y[k]; ++t) {{");
  w.line("          const Index at = first_y[k] + t;");
  w.line("          const float folded = weight_y[t * ny + k];");
  w.line("          {}", value);
  all("sum[b] = t == from_y[k] ? folded * value[b] : fma(folded, value[b], sum[b]);");
  w.line("          }}");
  all("rows[(k - y1) * pitch + c + b] = sum[b];");
  w.line("          }}");
  w.line("        }}");
  w.line("      }}");
  w.line("    }}");
}

void TiledKernel::window() {
  const int nx = v.window_x, ny = v.window_y, P = planes(), half = nx / 2, lead = window_lead(nx, P),
            pad = lead - half * P;
  const int room_x = (nx + 3) / 4 * 4, room_y = (ny + 3) / 4 * 4;
  w.line("    PENSTOCK_SHARED(float, window_x);");
  w.line("    float *window_y = window_x + {}, *rows = window_y + {};", room_x, room_y);
  if (nx > 1) w.line("    for (int t = threadIdx.x; t < {}; t += blockDim.x) window_x[t] = tx.taps.window[t];", nx);
  else w.line("    window_x[0] = 1.0f;");
  if (ny > 1) w.line("    for (int t = threadIdx.x; t < {}; t += blockDim.x) window_y[t] = ty.taps.window[t];", ny);
  else w.line("    window_y[0] = 1.0f;");
  w.line("    const int pitch = ({} + (tx.extent + {}) * {} + 3) / 4 * 4;", lead, half, P);
  // Outputs [left, right) of a row have no folded taps.
  w.line("    const int left = wx >= {0} ? 0 : ({0} - wx + 3 < nx ? static_cast<int>({0} - wx + 3) / 4 * 4 : nx);",
         half);
  w.line("    const Index past = static_cast<Index>(tx.taps.in) - {} - wx;", half);
  w.line("    const int right = past >= nx ? nx : past / 4 * 4 > left ? static_cast<int>(past / 4 * 4) : left;");
  w.line("    const int folded = left + nx - right;");
  w.line("    int32_t* first_y = reinterpret_cast<int32_t*>(rows + band * pitch);");
  w.line("    int32_t *from_y = first_y + ny, *to_y = from_y + ny, *first_x = to_y + ny;");
  w.line("    float* weight_y = reinterpret_cast<float*>(first_x + folded);");
  w.line("    float* weight_x = weight_y + ny * {};", ny);
  w.line("    if (folded > 0) {{");
  w.line("      tile_taps<{}>(tx.taps, wx, 1, left, folded, first_x, weight_x);", v.filter_x);
  w.line("      tile_taps<{}>(tx.taps, wx + right, 1, nx - right, folded, first_x + left, weight_x + left);",
         v.filter_x);
  w.line("    }}");
  w.line("    if (ny % {} != 0 || wy < {} || wy + ny + {} > ty.taps.in) {{", kRows, ny / 2, ny / 2);
  w.line("      tile_taps<{}>(ty.taps, wy, 1, ny, ny, first_y, weight_y);", v.filter_y);
  w.line("      __syncthreads();");
  w.line(
      "      for (int j = threadIdx.x; j < ny; j += blockDim.x) {{  // as the CPU leaves out outer taps of weight "
      "zero");
  w.line("        int from = 0, to = {};", ny);
  w.line("        while (from < to - 1 && weight_y[from * ny + j] == 0) ++from;");
  w.line("        while (to > from + 1 && weight_y[(to - 1) * ny + j] == 0) --to;");
  w.line("        from_y[j] = from, to_y[j] = to;");
  w.line("      }}");
  w.line("    }}");
  w.line("    __syncthreads();");
  // Elements of a row that the tile needs and the source has.
  w.line("    const Index origin = wx * {} - {};", P, lead);
  w.line("    const int low = origin >= 0 ? {0} : -origin > {0} ? static_cast<int>(-origin) : {0};", pad);
  w.line("    const Index have = static_cast<Index>(tx.taps.in) * {} - origin;", P);
  w.line("    const int need = {} + (nx + {}) * {}, high = have < need ? static_cast<int>(have) : need;", lead, half,
         P);
  begin_bands();
  auto weights = [&](int n, const char* from) {
    w.line("    {{ float weight[{}];", (n + 3) / 4 * 4);
    w.line("    PENSTOCK_UNROLL");
    w.line(
        "    for (int t = 0; t < {}; ++t) {{ const Vector<float, 4> four = reinterpret_cast<const Vector<float, "
        "4>*>({})[t];",
        (n + 3) / 4, from);
    w.line("      PENSTOCK_UNROLL for (int b = 0; b < 4; ++b) weight[4 * t + b] = four.v[b]; }}");
  };
  weights(ny, "window_y");
  std::string otherwise;
  if (bytes && !v.picks_planes) {
    // The conversion unit, otherwise idle, takes all bytes where windows are small, else one in four.
    const std::string unit = "static_cast<float>(word >> {0} & 255)",
                      rest = many_taps() ? "byte_number(word, {1})" : unit;
    const std::string numbers =
        fmt::format("const float value[4] = {{{}, {}, {}, {}}};", fmt::format(fmt::runtime(unit), 0),
                    fmt::format(fmt::runtime(rest), 8, 1), fmt::format(fmt::runtime(rest), 16, 2),
                    fmt::format(fmt::runtime(rest), 24, 3));
    w.line("    const uint8_t* corner = in0 + origin;");
    window_rows(
        "if (beside && step_x > 0 && ((reinterpret_cast<uint64_t>(corner) | step_y) & 3) == 0)", 4,
        "const uint8_t* column = corner + c;",
        fmt::format("const uint32_t word = *reinterpret_cast<const uint32_t*>(column + at * step_y); {}", numbers));
    window_rows("else if (beside && step_x > 0)", 4,
                "const uint8_t* column = corner + c; const bool whole = c >= low && c + 4 <= high;",
                fmt::format("const uint8_t* q = column + at * step_y; const uint32_t word = whole ? word_at(q) : "
                            "bytes_of(q, low - c, high - c); {}",
                            numbers));
    otherwise = "else";
  }
  window_rows(
      otherwise, 1,
      fmt::format(
          "const Index e = origin + c, x = e / {0}, p = e % {0}; (void)p; const {1}* column = in0 + x * step_x + {2};",
          P, element(type), plane_offset()),
      fmt::format("const float value[1] = {{{}}};", w.loaded(0, Lane::f32, "column[at * step_y]")));
  w.line("    }}");
  w.line("    __syncthreads();");
  const int vectors = (pad + (nx + 3) * P + 3) / 4;
  weights(nx, "window_x");
  auto from_sums = [&](const char* sums) {
    w.line("        for (int p = 0; p < {}; ++p) {{ const float sum = {}[p];", P, sums);
    set_source();
    w.line("        }}");
  };
  groups(
      4,
      [&] {
        w.line("      if (x < left || x >= right) continue;");
        w.line("      float sums[4][{}];", P);
        w.line(
            "      const Vector<float, 4>* near = reinterpret_cast<const Vector<float, 4>*>(rows + (y - y1) * pitch + "
            "x * "
            "{});",
            P);
        w.line("      PENSTOCK_UNROLL");
        w.line("      for (int k = 0; k < {}; ++k) {{", vectors);
        w.line("        const Vector<float, 4> four = near[k];");
        w.line("        PENSTOCK_UNROLL");
        w.line("        for (int b = 0; b < 4; ++b) {{");
        w.line("          const int e = 4 * k + b - {0}, column = e / {1}, p = e % {1};", pad, P);
        w.line("          PENSTOCK_UNROLL");
        w.line("          for (int j = 0; j < 4; ++j) {{");
        w.line("            const int t = column - j;");
        w.line("            if (e >= 0 && t == 0) sums[j][p] = weight[0] * four.v[b];");
        w.line("            else if (e >= 0 && t > 0 && t < {}) sums[j][p] = fma(weight[t], four.v[b], sums[j][p]);",
               nx);
        w.line("          }}");
        w.line("        }}");
        w.line("      }}");
      },
      [&] { from_sums("sums[j]"); });
  w.line("    }}");
  w.line("    if (folded > 0) {{");
  groups(
      1, [] {},
      [&] {
        w.line("        const float* near = rows + (y - y1) * pitch + ({} + (first_x[k] - static_cast<int>(wx)) * {});",
               lead, P);
        w.line("        float sums[{}], weight = weight_x[k];", P);
        w.line("        for (int p = 0; p < {}; ++p) sums[p] = weight * near[p];", P);
        w.line("        for (int t = 1; t < {}; ++t) {{", nx);
        w.line("          near += {}, weight = weight_x[t * folded + k];", P);
        w.line("          for (int p = 0; p < {}; ++p) sums[p] = fma(weight, near[p], sums[p]);", P);
        w.line("        }}");
        from_sums("sums");
      },
      "folded * nb", "const int y = y1 + i / folded, k = i % folded, x = k < left ? k : k - left + right;");
  w.line("    }} }}");
}

}  // namespace penstock
