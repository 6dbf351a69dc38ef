// SPDX-License-Identifier: Apache-2.0
// Affine maps of images in float32. A thread takes several neighbors of a row, a warp's threads a small rectangle:
// rotated, it still lies in few lines of memory. Positions are integers (pixel/affine.h); groups whose taps are all
// inside read without asking, pixels of bytes as aligned words. Bytes that become bytes again are blended in integers.
#include "cuda/kernels/kernel_writer.h"

namespace penstock {

bool warps_image(const StageCode& code, const StageVariant& v) {
  return !v.generic && v.kind == StageVariant::Kind::warped && v.warp_z < 0 && v.warp_x == v.dims - 1 &&
         v.warp_y == v.dims - 2 && v.planes <= 4 && v.narrow_source && !v.picks_planes &&
         code.program.inputs.size() == 1;
}

void write_warped_kernel(KernelWriter& w) {
  const StageVariant& v = w.variant;
  const int planes = v.planes, source = w.code.source, X = v.warp_x, Y = v.warp_y;
  const DType type = input_dtype(w.code, 0);
  const bool bytes = type == DType::uint8 && planes == 3, in_integers = w.code.source_stays_bytes;
  constexpr int q = kWarpGroup, across = kWarpAcross, down = 32 / kWarpAcross;
  auto tap = [&](const char* x, const char* y) {
    return w.loaded(0, Lane::f32, fmt::format("plane0[{} * sx + {} * sy + p * ps0]", x, y));
  };
  w.source_within = w.source_is_bytes = in_integers;
  w.begin_kernel();
  w.dim_words();
  w.line("  double m[6];");
  w.line("  for (int k = 0; k < 6; ++k) m[k] = s.warp().m[k];");
  w.line("  const WarpSource& read = s.warp().source;");
  w.line("  const int last_x = static_cast<int>(read.extent[0]) - 1, last_y = static_cast<int>(read.extent[1]) - 1;");
  w.line("  const Index sx = is0_{}, sy = is0_{};", X, Y);
  w.line("  const float outside = *reinterpret_cast<const float*>(table + read.fill);");
  w.line("  const bool nearest = read.nearest != 0, border_fill = read.border_fill != 0, near = read.near != 0;");
  w.line("  const double shift = nearest ? 0.0 : 0.5;");
  w.line("  const int64_t step_x = affine_step(m[0]), step_y = affine_step(m[3]);");
  if (bytes) w.line("  const bool beside = ps0 == 1 && sx == 3;");
  w.store_kinds(fmt::format("os{}", X));
  w.line("  const Index tiles_x = (e{} + {}) / {}, tiles_y = (e{} + {}) / {};", X, across * q - 1, across * q, Y,
         down - 1, down);
  w.line(
      "  Index tile = (begin + static_cast<Index>(threadIdx.x)) >> 5, tx = tile % tiles_x, ty = tile / tiles_x % "
      "tiles_y, outer = tile / tiles_x / tiles_y;");
  w.line("  for (Index i = begin + static_cast<Index>(threadIdx.x); i < end; i += static_cast<Index>(blockDim.x)) {{");
  w.line("    tx += (i >> 5) - tile, tile = i >> 5;");
  w.line("    while (tx >= tiles_x) {{");
  w.line("      tx -= tiles_x;");
  w.line("      if (++ty == tiles_y) ty = 0, ++outer;");
  w.line("    }}");
  w.line("    const Index x{0} = (tx * {1} + (i & {2})) * {3}, x{4} = ty * {5} + (i >> {6} & {7});", X, across,
         across - 1, q, Y, down, __builtin_ctz(across), down - 1);
  w.line("    if (x{0} >= e{0} || x{1} >= e{1}) continue;", X, Y);
  std::string from = "0", to = fmt::format("x{0} * os{0} + x{1} * os{1}", Y, X);
  if (Y > 0) w.line("    Index rest = outer;");
  for (int d = Y - 1; d >= 0; --d) {
    if (d > 0) w.line("    const Index x{0} = rest % e{0}; rest /= e{0};", d);
    else w.line("    const Index x0 = rest;");
    from += fmt::format(" + x{0} * is0_{0}", d), to += fmt::format(" + x{0} * os{0}", d);
  }
  w.line("    {}* to = out + ({});", element(w.out_type()), to);
  w.line("    const {}* plane0 = in0 + ({});", element(type), from);
  w.line("    const int count = e{0} - x{0} < {1} ? static_cast<int>(e{0} - x{0}) : {1};", X, q);
  if (v.fills) {
    std::string inside = "true";
    for (int d = 0; d < X; ++d) inside += fmt::format(" && x{0} >= lo{0} && x{0} < hi{0}", d);
    w.line("    const bool row = {};", inside);
    w.line("    const bool full = row && count == {1} && x{0} >= lo{0} && x{0} + {1} <= hi{0};", X, q);
  } else {
    w.line("    const bool full = count == {};", q);
  }
  w.line("    const int past = static_cast<int>(x{} % kAffineRun);", X);
  w.line("    int64_t px, py;");
  for (const char* how : {"if (near) ", "else "})
    w.line(
        "    {0}px = affine_begin<Index>(m, 2, 0, x{1}, x{2}, 0, shift{3}), py = affine_begin<Index>(m, 2, 1, x{1}, "
        "x{2}, 0, shift{3});",
        how, X, Y, *how == 'i' ? ", 0.0" : "");
  w.line("    px += past * step_x, py += past * step_y;");
  if (in_integers) w.line("    if (!nearest) px += kAffineByteHalf, py += kAffineByteHalf;");
  w.line("    float g[{}][{}];", q, planes);
  w.line(
      "    const uint32_t ax = affine_at(px), bx = affine_at(px + {0} * step_x), ay = affine_at(py), by = affine_at(py "
      "+ {0} * step_y);",
      q - 1);
  w.line("    const uint32_t ux = last_x, uy = last_y;");
  w.line("    if (!nearest && last_x > 0 && last_y > 0 && ax < ux && bx < ux && ay < uy && by < uy) {{");
  const char* const weights =
      in_integers
          ? "const AffineByteWeights w = affine_byte_weights(affine_byte_fraction(px), affine_byte_fraction(py));"
          : "const float wx = affine_weight<float>(px), wy = affine_weight<float>(py);";
  auto blend = [&](const char* indent, const char* a, const char* ba, const char* c, const char* dc) {
    w.line("{}  const float top = fma({}, wx, {}), bottom = fma({}, wx, {});", indent, ba, a, dc, c);
    w.line("{}  g[j][p] = fma(bottom - top, wy, top);", indent);
  };
  auto blend_taps = [&](const char* indent) {
    if (in_integers)
      w.line(
          "{}  g[j][p] = static_cast<float>(affine_byte(w, static_cast<uint32_t>(a), static_cast<uint32_t>(b), "
          "static_cast<uint32_t>(c), static_cast<uint32_t>(d)));",
          indent);
    else blend(indent, "a", "b - a", "c", "d - c");
  };
  w.line("      {}PENSTOCK_UNROLL", bytes ? "if (beside) " : "");
  if (bytes) {
    w.line("      for (int j = 0; j < {}; ++j, px += step_x, py += step_y) {{", q);
    w.line("        {}", weights);
    w.line("        const uint8_t* corner = plane0 + (affine_at(px) * Index(3) + affine_at(py) * sy);");
    if (in_integers) {
      w.line("        blend_pairs(corner, corner + sy, w, g[j]);");
    } else {
      w.line("        float a[3], b[3], c[3], d[3];");
      w.line("        raw_pixels_at(corner, a, b); raw_pixels_at(corner + sy, c, d);");
      w.line("        for (int p = 0; p < 3; ++p) {{");
      blend("        ", "a[p] - kRaw", "b[p] - a[p]", "c[p] - kRaw", "d[p] - c[p]");
      w.line("        }}");
    }
    w.line("      }} else PENSTOCK_UNROLL");
  }
  w.line("      for (int j = 0; j < {}; ++j, px += step_x, py += step_y) {{", q);
  w.line("        {}", weights);
  w.line("        const auto* corner = plane0 + (affine_at(px) * sx + affine_at(py) * sy);");
  w.line("        for (int p = 0; p < {}; ++p) {{", planes);
  w.line("          const float a = {}, b = {};", w.loaded(0, Lane::f32, "corner[p * ps0]"),
         w.loaded(0, Lane::f32, "corner[p * ps0 + sx]"));
  w.line("          const float c = {}, d = {};", w.loaded(0, Lane::f32, "corner[p * ps0 + sy]"),
         w.loaded(0, Lane::f32, "corner[p * ps0 + sx + sy]"));
  blend_taps("        ");
  w.line("        }}");
  w.line("      }}");
  w.line("    }} else {{");
  w.line("      for (int j = 0; j < {}; ++j, px += step_x, py += step_y) {{", q);
  w.line(
      "        const int at_x = affine_at(px), at_y = affine_at(py), xa = clamp(at_x, 0, last_x), ya = clamp(at_y, 0, "
      "last_y);");
  w.line("        const bool fill_xa = border_fill && xa != at_x, fill_ya = border_fill && ya != at_y;");
  w.line("        const int xb = clamp(at_x + 1, 0, last_x), yb = clamp(at_y + 1, 0, last_y);");
  w.line("        const bool fill_xb = border_fill && xb != at_x + 1, fill_yb = border_fill && yb != at_y + 1;");
  w.line("        if (nearest) {{");
  w.line("          for (int p = 0; p < {}; ++p) g[j][p] = fill_xa || fill_ya ? outside : {};", planes,
         tap("xa", "ya"));
  w.line("        }} else if ((fill_xa && fill_xb) || (fill_ya && fill_yb)) {{");
  w.line("          for (int p = 0; p < {}; ++p) g[j][p] = outside;", planes);
  w.line("        }} else {{");
  w.line("          {}", weights);
  w.line("          for (int p = 0; p < {}; ++p) {{", planes);
  w.line("            const float a = fill_xa || fill_ya ? outside : {}, b = fill_xb || fill_ya ? outside : {};",
         tap("xa", "ya"), tap("xb", "ya"));
  w.line("            const float c = fill_xa || fill_yb ? outside : {}, d = fill_xb || fill_yb ? outside : {};",
         tap("xa", "yb"), tap("xb", "yb"));
  blend_taps("          ");
  w.line("          }}");
  w.line("        }}");
  w.line("      }}");
  w.line("    }}");
  w.declare_results(q, "y", "    ");
  w.line("    PENSTOCK_UNROLL");
  w.line("    for (int j = 0; j < {}; ++j) {{", q);
  w.line("      float v{}[{}];", source, planes);
  w.line("      for (int p = 0; p < {}; ++p) v{}[p] = g[j][p];", planes, source);
  w.instructions([](int) { return std::string("0"); }, "      ", w.in_row(X));
  w.keep_result("y", "      ");
  w.line("    }}");
  w.finish_results("y", "    ");
  w.store_group(q, "y", fmt::format("os{}", X), fmt::format("!row || x{0} + j < lo{0} || x{0} + j >= hi{0}", X));
  w.line("  }}");
  w.line("}}");
}

}  // namespace penstock
