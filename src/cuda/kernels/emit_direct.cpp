// SPDX-License-Identifier: Apache-2.0
// Two taps each way of pixels of bytes, as random crops have them. A thread makes the same neighboring columns of
// several rows: their taps stay in registers, and all words of a group are asked for before one is used.
#include "cuda/kernels/emit_tiled.h"

namespace penstock {

bool TiledKernel::may_read_pairs() const {
  const int linear = static_cast<int>(FilterKind::linear);
  return v.path == StageVariant::Path::direct && bytes && planes() == 3 && !v.picks_planes && !v.fills && !v.wide &&
         v.filter_x == linear && v.filter_y == linear;
}

void TiledKernel::pairs() {
  constexpr int q = 4, most = kDirectWidth / q;
  w.line("  if (tx.taps.taps == 2 && ty.taps.taps == 2 && ps == 1 && step_x == 3 && step_y > 0) {{");
  // Tiles at the right may be narrow: their threads take more rows.
  w.line("    const int across = blockDim.x < {0} ? 1 : {0} >> (nx <= {1} ? 1 : 0), down = blockDim.x / across;", most,
         kDirectWidth / 2);
  w.line("    const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uint64_t>(in0) & 3);");
  w.line("    const uint8_t* base = in0 - lead;");
  w.store_whole(q, "os_y");
  w.line("    for (int x = threadIdx.x % across * {0}; x < nx; x += across * {0}) {{", q);
  w.line("      const int count = nx - x < {0} ? nx - x : {0};", q);
  w.line("      const bool full = count == {};", q);
  w.line("      uint32_t column[{0}];", q);
  w.line("      float wx0[{0}], wx1[{0}];", q);
  w.line("      PENSTOCK_UNROLL");
  w.line("      for (int j = 0; j < {}; ++j) {{", q);
  w.line("        const int tap = j < count ? x + j : nx - 1;");
  w.line(
      "        column[j] = lead + static_cast<uint32_t>(first_x[tap] * 3), wx0[j] = weight_x[tap], wx1[j] = "
      "weight_x[nx + tap];");
  w.line("      }}");
  w.line("      for (int y = threadIdx.x / across; y < ny; y += down) {{");
  w.line(
      "        const uint32_t upper = static_cast<uint32_t>(first_y[y] * step_y), lower = upper + "
      "static_cast<uint32_t>(step_y);");
  w.line("        PixelWords words[{}];", q);
  w.line("        PENSTOCK_UNROLL");
  w.line("        for (int j = 0; j < {}; ++j) words[j] = pixel_words(base, upper + column[j], lower + column[j]);", q);
  // wy0 * raw - wy0 * kRaw, rounded once, is what wy0 times the byte is.
  w.line("        const float wy0 = weight_y[y], wy1 = weight_y[ny + y], less = wy0 * -kRaw;");
  w.line("        {}* to = out + ((x0 + x) * os_x + (y0 + y) * os_y);", element(w.out_type()));
  w.declare_results(q, "g", "        ");
  w.line("        PENSTOCK_UNROLL");
  w.line("        for (int j = 0; j < {}; ++j) {{", q);
  w.line("          {} v{}[{}];", lane_number(), w.code.source, planes());
  w.line(
      "          const SixBytes u = six_bytes(words[j].upper, upper + column[j]), l = six_bytes(words[j].lower, lower "
      "+ column[j]);");
  w.line("          PENSTOCK_UNROLL");
  w.line("          for (int p = 0; p < 3; ++p) {{");
  w.line("            const float left = fma(wy1, raw_of(l, p) - kRaw, fma(wy0, raw_of(u, p), less));");
  w.line("            const float right = fma(wy1, raw_of(l, p + 3) - kRaw, fma(wy0, raw_of(u, p + 3), less));");
  w.line("            const float sum = fma(wx1[j], right, wx0[j] * left);");
  set_source();
  w.line("          }}");
  w.instructions([](int) { return std::string("0"); }, "          ", "j < count");
  w.keep_result("g", "          ");
  w.line("        }}");
  w.finish_results("g", "        ", "numbers_to_halves");
  w.line("        if (whole && full) store_whole(to, pos, whole, g);");
  w.line("        else {{");
  w.store_group(q, "g", "os_x", "false");
  w.line("        }}");
  w.line("      }}");
  w.line("    }}");
  w.line("    return;");
  w.line("  }}");
}

}  // namespace penstock
