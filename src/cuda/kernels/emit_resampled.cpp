// SPDX-License-Identifier: Apache-2.0
// Resampling of bytes whose planes lie side by side. A warp makes a few rows of the tile at a time, on its own: it
// filters the rows vertically into its part of shared memory, plane by plane, a lane four samples (or eight) of all
// planes from words; then a lane filters two neighbors of all these rows horizontally, whose weights it reads once.
#include "cuda/kernels/emit_tiled.h"

namespace penstock {

namespace {
constexpr int kKnownTaps = 5;  // loops over up to so many taps are unrolled

}  // namespace

void TiledKernel::resampled() {
  const int P = planes(), R = 2, wide = resampled_chunk(P), E = wide * P, K = E / 4;
  w.line("  PENSTOCK_SHARED(float, all_rows);");
  w.line("  const int pairs = (nx + 1) / 2;");
  w.line("  float* weight_x = all_rows + band;  // of pairs of outputs");
  w.line("  float* weight_y = weight_x + 2 * pairs * tx.taps.taps;");
  w.line("  int32_t* first_x = reinterpret_cast<int32_t*>(weight_y + ny * ty.taps.taps);");
  w.line("  int32_t *first_y = first_x + nx, *from_y = first_y + ny, *to_y = from_y + ny;");
  w.line("  tile_taps<{}>(tx.taps, tx.begin + tx.step * x0, tx.step, nx, 2 * pairs, first_x, weight_x);", v.filter_x);
  w.line("  const int busy = (nx + 31) / 32 * 32;");
  w.line("  tile_taps<{}>(ty.taps, ty.begin + ty.step * y0, ty.step, ny, ny, first_y, weight_y, busy);", v.filter_y);
  w.line(
      "  for (int j = (threadIdx.x + blockDim.x - busy % blockDim.x) % blockDim.x; j < ny; j += blockDim.x) {{  // "
      "those that made them");
  w.line("    int from = 0, to = ty.taps.taps;  // as the CPU leaves out outer taps of weight zero");
  w.line("    while (from < to - 1 && weight_y[from * ny + j] == 0) ++from;");
  w.line("    while (to > from + 1 && weight_y[(to - 1) * ny + j] == 0) --to;");
  w.line("    from_y[j] = from, to_y[j] = to;");
  if (v.averages) w.line("    for (int t = from; t < to; ++t) weight_y[t * ny + j] *= kEnlarge;");
  w.line("  }}");
  if (v.averages) {
    w.line("  for (int i = threadIdx.x; i < nx; i += blockDim.x)");
    w.line("    for (int t = 0; t < tx.taps.taps; ++t) weight_x[2 * t * pairs + i] *= kReduce;");
  }
  w.line("  __syncthreads();");
  w.line("  const int last_x = first_x[nx - 1], low = first_x[0] < last_x ? first_x[0] : last_x;");
  w.line("  const int columns = (first_x[0] < last_x ? last_x : first_x[0]) + tx.taps.taps - low;");
  w.line("  const int chunks = (columns + {}) / {}, pitch = chunks * {};", wide - 1, wide, wide);
  w.line(
      "  const int lanes = blockDim.x < 32 ? 1 : 32, lane = threadIdx.x % lanes, warp = threadIdx.x / lanes, warps = "
      "blockDim.x / lanes;");
  w.line("  const int deep = band >= warps * {1} * {0} * pitch ? {1} : {2};  // rows of a warp at once", P,
         kResampledRows, R);
  w.line("  float* rows = all_rows + warp * deep * {} * pitch;", P);
  w.line("  const uint8_t* corner = in0 + static_cast<Index>(low) * {};", P);
  w.line(
      "  const uint8_t* image_end = in0 + ((step_y > 0 ? static_cast<Index>(ty.taps.in - 1) * step_y : Index(0)) + "
      "static_cast<Index>(tx.taps.in) * {});",
      P);
  w.line("  for (int y1 = warp * deep; y1 < ny; y1 += warps * deep) {{");
  w.line("    const int nb = ny - y1 < deep ? ny - y1 : deep;");
  w.line("    for (int i = lane; i < chunks * nb; i += lanes) {{");
  w.line("      int r = 0, chunk = i;");
  w.line("      while (chunk >= chunks) chunk -= chunks, ++r;");
  w.line("      const int j = y1 + r, from = from_y[j], to = to_y[j];");
  w.line("      const uint8_t* q = corner + ((static_cast<Index>(first_y[j]) + from) * step_y + chunk * {});", E);
  w.line("      const bool inside = (step_y > 0 ? q + (to - 1 - from) * step_y : q) + {} <= image_end;", E + 4);
  w.line("      uint32_t word[{0}], next[{0}];", K + 1);
  w.line("      int shift, next_shift, t = from;");
  w.line("      words_from<{}>(q, inside, image_end, word, shift);", K);
  w.line("      float sum[{}];", E);
  w.line("      for (int b = 0; b < {}; ++b) sum[b] = -0.0f;", E);
  auto row = [&](const char* own, const char* own_shift, const char* other, const char* other_shift) {
    w.line("        q += step_y;");
    w.line("        if (t + 1 < to) words_from<{}>(q, inside, image_end, {}, {});", K, other, other_shift);
    w.line("        {{ const float weight = weight_y[t * ny + j];");
    w.line("        for (int k = 0; k < {0}; ++k) {1}[k] = shifted({1}[k], {1}[k + 1], {2});", K, own, own_shift);
    w.line("        PENSTOCK_UNROLL");
    w.line("        for (int b = 0; b < {}; ++b) {{", E);
    w.line("          const float value = {};", byte_value(fmt::format("{}[b / 4]", own), "b % 4"));
    w.line("          sum[b] = fma(weight, value, sum[b]);");
    w.line("        }} }}");
    w.line("        if (++t >= to) break;");
  };
  w.line("      for (;;) {{  // words that are waited for stay where they are");
  row("word", "shift", "next", "next_shift");
  row("next", "next_shift", "word", "shift");
  w.line("      }}");
  w.line("      float* row = rows + r * {} * pitch + chunk * {};", P, wide);
  w.line("      PENSTOCK_UNROLL");
  w.line("      for (int p = 0; p < {}; ++p) {{", P);
  w.line("        PENSTOCK_UNROLL");
  w.line("        for (int b = 0; b < {}; b += 4)", wide);
  w.line(
      "          *reinterpret_cast<Vector<float, 4>*>(row + p * pitch + b) = {{sum[b * {0} + p], sum[(b + 1) * {0} + "
      "p], sum[(b + 2) * {0} + p], sum[(b + 3) * {0} + p]}};",
      P);
  w.line("      }}");
  w.line("    }}");
  w.line("    __syncwarp();");
  w.line("    for (int i = lane; i < pairs * ((nb + 1) / 2); i += lanes) {{");
  w.line("      int part = 0, pair = i;");
  w.line("      while (pair >= pairs) pair -= pairs, ++part;");
  w.line("      const int x = 2 * pair, count = nx - x < 2 ? nx - x : 2;");
  w.line("      const float* of_part = rows + part * {} * pitch - low;", 2 * P);
  w.line("      const float* near[2] = {{of_part + first_x[x], of_part + first_x[x + count - 1]}};");
  w.line("      float sums[{}][2][{}];", R, P);
  w.line("      PENSTOCK_UNROLL for (int k = 0; k < {}; ++k) sums[k / {}][k / {} % 2][k % {}] = -0.0f;", 2 * R * P,
         2 * P, P, P);
  w.line("      auto filter = [&](auto known) {{");
  w.line("        const int taps = decltype(known)::value ? decltype(known)::value : tx.taps.taps;");
  w.line("        PENSTOCK_UNROLL");
  w.line("        for (int t = 0; t < taps; ++t) {{");
  w.line(
      "          const Vector<float, 2> weight = *reinterpret_cast<const Vector<float, 2>*>(weight_x + 2 * (t * pairs "
      "+ pair));");
  w.line("          PENSTOCK_UNROLL for (int r = 0; r < {}; ++r)", R);
  w.line("            PENSTOCK_UNROLL for (int j = 0; j < 2; ++j)");
  w.line("              PENSTOCK_UNROLL for (int p = 0; p < {}; ++p) {{", P);
  w.line("                const float value = near[j][(r * {} + p) * pitch + t];", P);
  w.line("                sums[r][j][p] = fma(weight.v[j], value, sums[r][j][p]);");
  w.line("              }}");
  w.line("        }}");
  w.line("      }};");
  for (int t = 2; t <= kKnownTaps; ++t) w.line("      if (tx.taps.taps == {0}) filter(Known<{0}>()); else", t);
  w.line("      filter(Known<0>());");
  w.line("      PENSTOCK_UNROLL");
  w.line("      for (int r = 0; r < {}; ++r) {{", R);
  w.line("        const int y = y1 + 2 * part + r;");
  w.line("        if (2 * part + r >= nb) break;");
  group(
      2, [] {},
      [&] {
        w.line("        for (int p = 0; p < {}; ++p) {{ const float sum = sums[r][j][p];", P);
        set_source();
        w.line("        }}");
      });
  w.line("      }}");
  w.line("    }}");
  w.line("    __syncwarp();");
  w.line("  }}");
}

}  // namespace penstock
