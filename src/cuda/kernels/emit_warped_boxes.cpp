// SPDX-License-Identifier: Apache-2.0
// Affine maps of images of uint8 with three channels side by side, linearly, to uint8. A block makes 64 x 64 outputs:
// the box of the source that they read comes to shared memory as one word a pixel, what is outside of the image too.
// A warp takes 8 x 4 outputs at a time, whose words lie in different banks whatever the angle, and exchanges them
// through shared memory, so that each thread has four neighbors of a row: they are stored as the words they are, or go
// through the rest of the stage. benchmarks/gpu/warp_limit.cu is the same by itself.
#include "cuda/kernels/kernel_writer.h"

namespace penstock {

namespace {

// The corner of a tile's box, its pixels in units of four, and its rows.
constexpr const char* kCorner = R"(
  const auto low = [](int64_t a, int64_t b, int64_t across) {
    const int64_t c = a < b ? a : b;
    return affine_at(across < 0 ? c + across : c);
  };
  const auto high = [](int64_t a, int64_t b, int64_t across) {
    const int64_t c = a < b ? b : a;
    return affine_at(across < 0 ? c : c + across);
  };
  const BoxStart first = start[0], last = start[tall - 1];
  const int64_t across_x = (wide - 1) * step_x, across_y = (wide - 1) * step_y;
  const int x0 = low(first.x, last.x, across_x) & ~3, y0 = low(first.y, last.y, across_y);
  const int units = (high(first.x, last.x, across_x) + 5 - x0) >> 2;
  const int rows = high(first.y, last.y, across_y) + 2 - y0;
#ifdef PENSTOCK_EMULATED
  const uint32_t inverse = 1048576u / units + 1;
#else
  const uint32_t inverse = static_cast<uint32_t>(__fdividef(1048576.0f, static_cast<float>(units))) + 1;
#endif
)";

// One loop for each kind of box: all in one, the kernel takes a quarter longer.
constexpr const char* kFill = R"(
  const bool words = ((reinterpret_cast<uint64_t>(plane0) | row_bytes) & 3) == 0;
  const bool inside = x0 >= 0 && x0 + units * 4 <= width && y0 >= 0 && y0 + rows <= height;
  const uint8_t* corner = plane0 + (static_cast<int64_t>(y0) * row_bytes + x0 * 3);
  if (inside && words) {
    PENSTOCK_UNROLL_TWICE
    for (int u = thread; u < units * rows; u += kThreads) {
      const int r = static_cast<int>(u * inverse >> 20), c = u - r * units;
      put_words(reinterpret_cast<const uint32_t*>(corner + (r * row_bytes + c * 12)), box + r * kPitch + c * 4);
    }
  } else if (inside) {
    PENSTOCK_UNROLL_TWICE
    for (int u = thread; u < units * rows; u += kThreads) {
      const int r = static_cast<int>(u * inverse >> 20), c = u - r * units;
      put_inner(corner + (r * row_bytes + c * 12), box + r * kPitch + c * 4);
    }
  } else {
    const bool fills = map.source.border_fill != 0;
    const uint32_t outside =
        static_cast<uint32_t>(*reinterpret_cast<const float*>(table + map.source.fill)) * 0x10101u;
    PENSTOCK_ROLLED
    for (int u = thread; u < units * rows; u += kThreads) {
      const int r = static_cast<int>(u * inverse >> 20), c = u - r * units, x = x0 + c * 4, y = y0 + r;
      const int own = clamp(y, 0, height - 1);
      uint32_t* to = box + r * kPitch + c * 4;
      const uint8_t* row = plane0 + static_cast<int64_t>(own) * row_bytes;
      if (fills && (y != own || x <= -4 || x >= width))
        *reinterpret_cast<FourWords*>(to) = {{outside, outside, outside, outside}};
      else if (x >= 0 && x + 4 <= width) put_inner(row + x * 3, to);
      else put_border(row, x, width, fills, outside, to);
    }
  }
  __syncthreads();
)";

// A warp's outputs: lane 8 r + c has those of row r from column c on, every eighth, then four neighbors.
constexpr const char* kBlend = R"(
#ifdef PENSTOCK_EMULATED
  constexpr int kLanes = 32;
  for (int warp = 0; warp < 8; ++warp) {
#define PENSTOCK_LANE(u) (u)
#else
  constexpr int kLanes = 1;
  {
  const int warp = thread >> 5;
#define PENSTOCK_LANE(u) (thread & 31)
#endif
  const int column = (warp & 1) * 32;
  uint32_t* exchange = box + kPitch * kRows + warp * 4 * kExchange;
  int64_t from_x[kLanes], from_y[kLanes];
  for (int u = 0; u < kLanes; ++u) {
    const int across = column + (PENSTOCK_LANE(u) & 7);
    from_x[u] = across * step_x - (static_cast<int64_t>(x0) << 32);
    from_y[u] = across * step_y - (static_cast<int64_t>(y0) << 32);
  }
  PENSTOCK_ROLLED
  for (int quad = (warp >> 1) * 4; quad < tall && column < wide; quad += 16) {
    for (int u = 0; u < kLanes; ++u) {
      const int lane = PENSTOCK_LANE(u), row = quad + (lane >> 3);
      const BoxStart at = start[row < tall ? row : tall - 1];
      int64_t px = at.x + from_x[u], py = at.y + from_y[u];
      uint32_t* to = exchange + (lane >> 3) * kExchange + (lane & 7);
      PENSTOCK_UNROLL
      for (int k = 0; k < 4; ++k, px += 8 * step_x, py += 8 * step_y) to[8 * k] = blended<kPitch>(box, px, py);
    }
    __syncwarp();
)";

// What a thread has of four neighbors; its place among the outputs.
constexpr const char* kGroup = R"(
      const int lane = PENSTOCK_LANE(u), past_x = left + column + (lane & 7) * 4, past_y = top + quad + (lane >> 3);
      const FourWords four = *reinterpret_cast<const FourWords*>(exchange + (lane >> 3) * kExchange + (lane & 7) * 4);
)";

constexpr const char* kStorePacked = R"(
    for (int u = 0; u < kLanes; ++u) {
#ifdef PENSTOCK_EMULATED
      const uint32_t before = u > 0 ? bytes[u > 0 ? u - 1 : 0][2] : 0;
#else
      const uint32_t before = __shfl_up_sync(~0u, bytes[0][2], 1);
#endif
      if (interleaved) store_neighbors(place[u], counts[u], PENSTOCK_LANE(u) & 7, bytes[u], before);
    }
)";

}  // namespace

void write_boxes_kernel(KernelWriter& w) {
  const StageVariant& v = w.variant;
  const int X = v.warp_x, Y = v.warp_y, source = w.code.source;
  constexpr int q = 4;
  w.source_within = w.source_is_bytes = true;
  const bool plain = w.code.result == source && w.code.code.size() <= 1 && w.out_type() == DType::uint8;
  const bool packs = w.out_type() == DType::uint8 && w.out_planes() == 3;
  w.begin_kernel();
  w.dim_words();
  w.line("  constexpr int kTile = {}, kPitch = {}, kRows = {}, kExchange = {};", kBoxTile, kBoxPitch, kBoxRows,
         kExchangePitch);
  w.line("  const BoxRow& map = s.box();");
  w.line("  const double* m = map.m;");
  w.line("  const int64_t step_x = map.step_x, step_y = map.step_y;");
  w.line(
      "  const int width = static_cast<int>(map.source.extent[0]), height = static_cast<int>(map.source.extent[1]);");
  w.store_kinds(fmt::format("os{}", X));
  w.line("  const auto part = [](int i, float inverse) {{");
  w.line("    return static_cast<int>((static_cast<float>(i) + 0.5f) * inverse);");
  w.line("  }};");
  w.line("  const int tiles_x = (e{} + kTile - 1) / kTile, tiles_y = (e{} + kTile - 1) / kTile;", X, Y);
  w.line("  const int down = part(begin, map.tiles_across), outer = part(down, map.tiles_down);");
  w.line("  const int left = (begin - down * tiles_x) * kTile, top = (down - outer * tiles_y) * kTile;");
  w.line("  const int wide = e{0} - left > 32 ? 64 : 32, tall = e{1} - top < kTile ? e{1} - top : kTile;", X, Y);
  std::string from = "0", to = "0";
  if (Y > 0) w.line("  Index rest = outer;");
  for (int d = Y - 1; d >= 0; --d) {
    if (d > 0) w.line("  const Index x{0} = rest % e{0}; rest /= e{0};", d);
    else w.line("  const Index x0_ = rest;");
    const std::string x = d > 0 ? fmt::format("x{}", d) : "x0_";
    from += fmt::format(" + {} * is0_{}", x, d), to += fmt::format(" + {} * os{}", x, d);
  }
  w.line("  const uint8_t* plane0 = in0 + ({});", from);
  w.line("  const Index row_bytes = is0_{};", Y);
  w.line("  PENSTOCK_SHARED(BoxStart, start);");
  w.line("  uint32_t* box = reinterpret_cast<uint32_t*>(start + kTile);");
  w.line("#ifdef PENSTOCK_EMULATED");
  w.line("  constexpr int kThreads = 1;");
  w.line("#else");
  w.line("  constexpr int kThreads = {};", kStageThreads);
  w.line("#endif");
  w.line("  const int thread = static_cast<int>(threadIdx.x);");
  w.line("  PENSTOCK_ROLLED");
  w.line("  for (int r = thread; r < tall; r += kThreads) {{");
  for (int a = 0; a < 2; ++a)
    w.line("    start[r].{} = affine_begin<int>(m, 2, {}, left, top + r, 0, 0.5, 0.0) + kAffineByteHalf;", "xy"[a], a);
  w.line("  }}");
  w.line("  __syncthreads();");
  w.text += kCorner;
  w.text += kFill;
  w.text += kBlend;
  if (packs) {
    w.line("    uint32_t bytes[kLanes][3];");
    w.line("    int counts[kLanes];");
    w.line("    uint8_t* place[kLanes];");
  }
  w.line("    for (int u = 0; u < kLanes; ++u) {{");
  w.text += kGroup;
  w.line("    const int beside = past_y < e{} ? e{} - past_x : 0, count = clamp(beside, 0, {});", Y, X, q);
  w.line("    {}* to = out + ({} + past_y * os{} + past_x * os{});", element(w.out_type()), to, Y, X);
  if (packs) w.line("    place[u] = to, counts[u] = beside;");
  if (plain) {
    w.line(
        "    bytes[u][0] = bytes_by(four.v[0], four.v[1], 0x4210), bytes[u][1] = bytes_by(four.v[1], four.v[2], "
        "0x5421), bytes[u][2] = bytes_by(four.v[2], four.v[3], 0x6542);");
    w.line("    if (!interleaved)");
    w.line("      PENSTOCK_ROLLED");
    w.line("      for (int k = 0; k < count * 3; ++k)");
    w.line("        to[k / 3 * os{} + k % 3 * pos] = static_cast<uint8_t>(bytes[u][k >> 2] >> (k & 3) * 8);", X);
  } else {
    w.declare_results(q, "y", "    ");
    w.line("    PENSTOCK_UNROLL");
    w.line("    for (int j = 0; j < {}; ++j) {{", q);
    w.line("      float v{}[3];", source);
    w.line("      for (int p = 0; p < 3; ++p) v{}[p] = byte_number(four.v[j], p);", source);
    w.instructions([](int) { return std::string("0"); }, "      ", "j < count");
    w.keep_result("y", "      ");
    w.line("    }}");
    w.finish_results("y", "    ");
    if (packs) {
      w.line("    for (int k = 0; k < 3; ++k) bytes[u][k] = 0;");
      w.line("    PENSTOCK_UNROLL");
      w.line("    for (int k = 0; k < 12; ++k)");
      w.line("      bytes[u][k >> 2] |= static_cast<uint32_t>(y[k / 3][k % 3]) << (k & 3) * 8;");
    }
    w.line("    const bool full = count == {};", q);
    if (packs) w.line("    if (!interleaved) {{");
    w.store_group(q, "y", fmt::format("os{}", X), "false");
    if (packs) w.line("    }}");
  }
  w.line("    }}");
  w.line("    __syncwarp();");
  if (packs) w.text += kStorePacked;
  w.line("  }}");
  w.line("  }}");
  w.line("}}");
}

}  // namespace penstock
