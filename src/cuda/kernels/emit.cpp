// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/emit.h"

#include <algorithm>

#include "cuda/kernels/kernel_writer.h"

namespace penstock {
namespace {

constexpr int kInFlight = 4;  // vectors of a thread at once, kind elements

size_t largest_element(const StageCode& code) {
  size_t n = size_of(type_of(code.program, code.program.outputs[0]).dtype);
  for (size_t k = 0; k < code.program.inputs.size(); ++k)
    n = std::max(n, size_of(input_dtype(code, static_cast<int>(k))));
  return n;
}
int vector_elements(const StageCode& code) { return static_cast<int>(16 / largest_element(code)); }

class Emitter : KernelWriter {
 public:
  using KernelWriter::KernelWriter;
  std::string write() {
    const bool warped = warps_image(code, variant), boxes = warped && variant.boxes;
    begin_text(headers());
    if (variant.kind == StageVariant::Kind::elements)
      of_source(fmt::format("elements<Stage, {}, {}>", vector_elements(code), kInFlight));
    else if (variant.kind == StageVariant::Kind::positions) of_source("positions<Stage>");
    else if (boxes) write_boxes_kernel(*this);
    else if (warped) write_warped_kernel(*this);
    else if (variant.kind == StageVariant::Kind::tiled) write_tiled_kernel(*this);
    else positions_kernel();
    end_text();
    return std::move(text);
  }

 private:
  // A kernel that is a template of a header.
  void of_source(const std::string& kernel) {
    stage(group_positions(code, variant));
    line("__device__ inline void run(const char* table) {{ {}(table); }}", kernel);
  }
  std::vector<const char*> headers() const {
    using Path = StageVariant::Path;
    const bool tiled = variant.kind == StageVariant::Kind::tiled, warped = warps_image(code, variant);
    if (variant.kind == StageVariant::Kind::elements) return {"groups.h", "stage_block.h", "elements.h"};
    if (variant.kind == StageVariant::Kind::positions) return {"groups.h", "stage_block.h", "positions.h"};
    std::vector<const char*> all;
    if (tiled || warped) all.push_back("groups.h");
    if (tiled || warped) all.push_back("bytes.h");
    if (warped) all.push_back("byte_pairs.h");
    if (warped && variant.boxes) all.push_back("byte_boxes.h");
    if (!tiled) return all;
    all.push_back("tile_taps.h");
    if (variant.path == Path::direct) all.push_back("pixel_words.h");
    if (variant.path == Path::resampled) all.push_back("byte_runs.h");
    if (variant.path >= Path::sliding) all.push_back("warp_lanes.h");
    if (variant.path == Path::streaming) all.push_back("streams.h");
    return all;
  }

  // The places in the first `dims` dimensions, of what is left of a position's number.
  void outer_positions(int dims, const char* indent) {
    for (int d = dims - 1; d > 0; --d) line("{0}const Index x{1} = rest % e{1}; rest /= e{1};", indent, d);
    if (dims > 0) line("{}const Index x0 = rest;", indent);
  }

  void positions_kernel() {
    begin_kernel();
    const int n = inputs();
    const bool filtered = variant.kind == StageVariant::Kind::filtered,
               warped = variant.kind == StageVariant::Kind::warped;
    dim_words();
    for (int k = 0; k < at.axes; ++k) {
      line("  const int taps{0} = static_cast<int>(s.axis({0}).taps);", k);
      line("  const int32_t* first{0} = reinterpret_cast<const int32_t*>(table + s.axis({0}).first);", k);
      line("  const float* weight{0} = reinterpret_cast<const float*>(table + s.axis({0}).weight);", k);
      line("  const Index step{0} = static_cast<Index>(s.axis({0}).step) * is0_{1};", k, axis_dim(k));
    }
    if (filtered) line("  const bool indexed = s.indexed() != 0;");
    if (warped) warp_setup();
    line("  for (Index i = begin + threadIdx.x; i < end; i += blockDim.x) {{");
    line("    Index rest = i;");
    outer_positions(variant.dims, "    ");
    std::string to = "0";
    for (int d = 0; d < variant.dims; ++d) to += fmt::format(" + x{0} * os{0}", d);
    line("    const Index o = {};", to);
    if (variant.fills) {
      std::string inside = "true";
      for (int d = 0; d < variant.dims; ++d) inside += fmt::format(" && x{0} >= lo{0} && x{0} < hi{0}", d);
      line("    if (!({})) {{", inside);
      fill_position("out + o", "      ");
      line("      continue;");
      line("    }}");
    }
    for (int k = 0; k < n; ++k) {
      std::string from = "0";
      for (int d = 0; d < variant.dims; ++d) {
        const bool special = k == 0 && ((variant.filtered >> d & 1) || is_warped(d));
        if (!special) from += fmt::format(" + x{1} * is{0}_{1}", k, d);
      }
      line("    const Index a{} = {};", k, from);
    }
    if (variant.planes == 0) {
      line("    for (Index plane = 0; plane < pn_in; ++plane) {{");
    }
    auto load = [&](int k) { return fmt::format("in{0}[a{0} + {1}]", k, plane_offset(k)); };
    if (filtered) filtered_source();
    if (warped) warped_source();
    instructions(load, "    ");
    store_position("out + o", [&](const char* plane) { return stored(plane); }, "    ");
    line("  }}");
    line("}}");
  }
  std::string plane_offset(int k) const {
    if (!variant.has_plane) return "0";
    return variant.picks_planes && k == 0 ? "static_cast<Index>(pick[p]) * ps0" : fmt::format("p * ps{}", k);
  }
  int axis_dim(int k) const {  // axes count filtered dimensions from the innermost
    for (int d = variant.dims - 1; d >= 0; --d)
      if (variant.filtered >> d & 1)
        if (k-- == 0) return d;
    return 0;
  }

  // The sum over taps: the innermost dimension last, as on the CPU.
  void filtered_source() {
    const char* V = number(code.values[code.source].lane);
    const char* T = element(input_dtype(code, 0));
    line("    {} v{}[{}];", V, code.source, variant.planes);
    for (int k = 0; k < at.axes; ++k) {
      line("    const Index t{0} = x{1} - lo{1}, f{0} = static_cast<Index>(first{0}[t{0}]) * step{0};", k, axis_dim(k));
      line("    const float* w{0} = weight{0} + t{0} * taps{0};", k);
    }
    std::string first = "a0";
    for (int k = 0; k < at.axes; ++k) first += fmt::format(" + f{}", k);
    line("    const Index corner = {};", first);
    line("    for (int p = 0; p < {}; ++p) {{", variant.planes);
    line("      const Index q = corner + {};", plane_offset(0));
    line("      if (indexed) {{ v{}[p] = to_lane<{}, {}>(in0[q]); continue; }}", code.source, T, V);
    std::string offset = "q", indent = "      ";
    line("      float r0 = 0;");
    for (int k = 0; k < at.axes; ++k) {
      const bool vertical = axis_dim(k) == variant.vertical;
      if (vertical) {
        line("{}int from{} = 0, to{} = taps{};", indent, k, k, k);
        line("{0}while (from{1} < taps{1} - 1 && w{1}[from{1}] == 0) ++from{1};", indent, k);
        line("{0}while (to{1} > from{1} + 1 && w{1}[to{1} - 1] == 0) --to{1};", indent, k);
      }
      line("{0}for (int b{1} = {2}; b{1} < {3}; ++b{1}) {{", indent, k, vertical ? fmt::format("from{}", k) : "0",
           vertical ? fmt::format("to{}", k) : fmt::format("taps{}", k));
      indent += "  ";
      offset += fmt::format(" + b{0} * step{0}", k);
      line("{}float r{} = 0;", indent, k + 1);
    }
    line("{}r{} = to_lane<{}, float>(in0[{}]);", indent, at.axes, T, offset);
    for (int k = at.axes - 1; k >= 0; --k) {
      const std::string begins = axis_dim(k) == variant.vertical ? fmt::format("from{}", k) : "0";
      line("{0}r{1} = b{1} == {2} ? w{1}[b{1}] * r{3} : fma(w{1}[b{1}], r{3}, r{1});", indent, k, begins, k + 1);
      indent.resize(indent.size() - 2);
      line("{}}}", indent);
    }
    line("      v{}[p] = change_lane<float, {}>(r0);", code.source, V);
    line("    }}");
  }

  bool is_warped(int d) const { return d == variant.warp_x || d == variant.warp_y || d == variant.warp_z; }
  int warp_dims() const { return variant.warp_z >= 0 ? 3 : 2; }
  void warp_setup() {
    line("  const WarpRow& warp = s.warp();");
    line("  const double* m = warp.m;");
    line("  const int64_t* source_extent = warp.source.extent;");
    line("  const int64_t source_stride[3] = {{is0_{}, is0_{}, {}}};", variant.warp_x, variant.warp_y,
         variant.warp_z >= 0 ? fmt::format("is0_{}", variant.warp_z) : "0");
    line("  const float outside = *reinterpret_cast<const float*>(table + warp.source.fill);");
    line("  const bool nearest = warp.source.nearest != 0, border_fill = warp.source.border_fill != 0;");
  }
  void warped_source() {
    const Lane lane = code.values[code.source].lane;
    const char* V = number(lane);
    const char* T = element(input_dtype(code, 0));
    const bool real = lane == Lane::f32 || lane == Lane::f64;
    line("    {} v{}[{}];", V, code.source, variant.planes);
    line("    const auto point = affine_point<{}>(m, x{}, x{}, {}, nearest);", warp_dims(), variant.warp_x,
         variant.warp_y, variant.warp_z >= 0 ? fmt::format("x{}", variant.warp_z) : "0");
    line("    for (int p = 0; p < {}; ++p) {{", variant.planes);
    line("      const {}* plane = in0 + a0 + {};", T, plane_offset(0));
    auto channel = [&](const char* number_type) {
      line("        auto load = [plane](int64_t offset) {{ return to_lane<{}, {}>(plane[offset]); }};", T, number_type);
      line(
          "        const AffineChannel<{}, {}, decltype(load)> channel{{source_extent, source_stride, border_fill, "
          "fill_in_lane<{}>(outside), load}};",
          warp_dims(), number_type, number_type);
    };
    line("      if (nearest) {{");
    channel(V);
    line("        v{}[p] = channel.tap(point, 0);", code.source);
    line("      }} else {{");
    channel(real ? V : "double");
    if (code.source_stays_bytes && warp_dims() == 2) line("        v{}[p] = channel.linear_bytes(point);", code.source);
    else if (real) line("        v{}[p] = channel.linear(point);", code.source);
    else line("        v{}[p] = change_lane<double, {}>(channel.linear(point));", code.source, V);
    line("      }}");
    line("    }}");
  }
};

}  // namespace

RowLayout row_layout(const StageCode& code, const StageVariant& v) {
  using Kind = StageVariant::Kind;
  RowLayout at;
  at.inputs = static_cast<int>(code.program.inputs.size());
  at.dims = v.kind == Kind::elements ? 0 : v.dims;
  at.axes = v.kind == Kind::tiled ? 0 : __builtin_popcount(v.filtered);
  at.fills = v.fills, at.faults = code.faults, at.filters = v.filtered != 0 || v.kind == Kind::tiled;
  at.picks_planes = v.picks_planes, at.has_plane = v.has_plane;
  at.warps = v.kind == Kind::warped, at.tiles = v.kind == Kind::tiled;
  return at;
}

int group_positions(const StageCode& code, const StageVariant& v) {
  if (v.generic) return 1;
  if (warps_image(code, v)) return kWarpGroup;
  if (v.kind != StageVariant::Kind::positions || v.planes > 4) return 1;
  // Eight pixels are whole vectors of planar halves; of bytes side by side they are too many where rows are not
  // aligned.
  if (v.planes > 1)
    return size_of(type_of(code.program, code.program.outputs[0]).dtype) == 2 && largest_element(code) == 2 ? 8 : 4;
  return static_cast<int>(std::min<size_t>(8, 16 / largest_element(code)));
}
int64_t work_granule(const StageCode& code, const StageVariant& v) {
  return v.kind == StageVariant::Kind::elements ? int64_t{kStageThreads} * vector_elements(code) * kInFlight
                                                : kStageThreads;
}
size_t shared_bytes(const StageCode& code, const StageVariant& v) {
  return v.table ? 256 * std::max(1, v.planes) * size_of(type_of(code.program, code.program.outputs[0]).dtype) : 0;
}
std::string emit_stage(const StageCode& code, const StageVariant& v) { return Emitter(code, v).write(); }

}  // namespace penstock
