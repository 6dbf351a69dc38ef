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
int vector_bytes(DType t, int count) { return static_cast<int>(std::min<size_t>(16, size_of(t) * count)); }

class Emitter : KernelWriter {
 public:
  using KernelWriter::KernelWriter;
  std::string write() {
    const bool warped = warps_image(code, variant), boxes = warped && variant.boxes;
    begin_text(headers());
    if (variant.kind == StageVariant::Kind::elements) elements_kernel();
    else if (variant.kind == StageVariant::Kind::positions) groups_kernel();
    else if (boxes) write_boxes_kernel(*this);
    else if (warped) write_warped_kernel(*this);
    else if (variant.kind == StageVariant::Kind::tiled) write_tiled_kernel(*this);
    else positions_kernel();
    end_text();
    return std::move(text);
  }

 private:
  std::vector<const char*> headers() const {
    using Path = StageVariant::Path;
    const bool tiled = variant.kind == StageVariant::Kind::tiled, warped = warps_image(code, variant);
    std::vector<const char*> all;
    if (tiled || warped || variant.kind == StageVariant::Kind::positions) all.push_back("groups.h");
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

  // One dense row: a thread takes neighbors as vectors where addresses allow it, several vectors in flight.
  void elements_kernel() {
    const int n = inputs(), count = vector_elements(code);
    line("template <class T> struct alignas(sizeof(T) * {0} > 16 ? 16 : sizeof(T) * {0}) Pack {{ T v[{0}]; }};", count);
    table_function();
    begin_kernel();
    fill_table();
    std::string aligned = fmt::format("((reinterpret_cast<uint64_t>(out) & {})", vector_bytes(out_type(), count) - 1);
    for (int k = 0; k < n; ++k)
      aligned +=
          fmt::format(" | (reinterpret_cast<uint64_t>(in{}) & {})", k, vector_bytes(input_dtype(code, k), count) - 1);
    line("  const bool aligned = {}) == 0;", aligned);
    line("  const Index hop = {} * static_cast<Index>(blockDim.x);", count);
    line("  for (Index i = begin + {} * static_cast<Index>(threadIdx.x); i < end; i += {} * hop) {{", count, kInFlight);
    line("    if (aligned && i + {} * hop + {} <= end) {{", kInFlight - 1, count);
    for (int k = 0; k < n; ++k) {
      line("      Pack<{}> x{}[{}];", element(input_dtype(code, k)), k, kInFlight);
      line("      PENSTOCK_UNROLL");
      line("      for (int u = 0; u < {0}; ++u) x{1}[u] = *reinterpret_cast<const Pack<{2}>*>(in{1} + i + u * hop);",
           kInFlight, k, element(input_dtype(code, k)));
    }
    line("      PENSTOCK_UNROLL");
    line("      for (int u = 0; u < {}; ++u) {{", kInFlight);
    line("        Pack<{}> y;", element(out_type()));
    line("        PENSTOCK_UNROLL");
    line("        for (int e = 0; e < {}; ++e) {{", count);
    one_element([](int k) { return fmt::format("x{}[u].v[e]", k); }, "y.v[e]", "          ");
    line("        }}");
    line("        *reinterpret_cast<Pack<{}>*>(out + i + u * hop) = y;", element(out_type()));
    line("      }}");
    line("    }} else {{");
    line("      for (int u = 0; u < {}; ++u)", kInFlight);
    line("        for (Index e = i + u * hop; e < i + u * hop + {} && e < end; ++e) {{", count);
    one_element([](int k) { return fmt::format("in{}[e]", k); }, "out[e]", "          ");
    line("        }}");
    line("    }}");
    line("  }}");
    line("}}");
  }
  template <class Load> void one_element(Load&& load, const char* to, const std::string& indent) {
    if (variant.table) {
      line("{}{} = result[{}];", indent, to, load(0));
    } else if (code.only_copies) {
      line("{}{} = {};", indent, to, load(0));
    } else {
      instructions(load, indent);
      line("{}{} = {};", indent, to, stored("0"));
    }
  }

  // What the stage makes of each of the 256 values, plane after plane.
  void table_function() {
    if (!variant.table) return;
    line(
        "__device__ inline void make_results(uint8_t x0, const char* {}, const StageRow<const char>& s, {}* result) {{",
        coefs_base(), element(out_type()));
    coefficients();
    instructions([](int) { return std::string("x0"); }, "  ");
    line("  for (int p = 0; p < {}; ++p) result[p * 256 + x0] = {};", std::max(1, variant.planes), stored("p"));
    line("}}");
  }
  void fill_table() {
    if (!variant.table) return;
    line("  PENSTOCK_SHARED({}, result);", element(out_type()));
    line(
        "  for (int i = threadIdx.x; i < 256; i += blockDim.x) make_results(static_cast<uint8_t>(i), {}, s, "
        "result);",
        coefs_base());
    line("  __syncthreads();");
  }

  // A few positions of the innermost dimension a thread: their elements come and go as vectors where they lie side by
  // side.
  void groups_kernel() {
    table_function();
    begin_kernel();
    fill_table();
    const int n = inputs(), last = variant.dims - 1, q = group_positions(code, variant), planes = variant.planes;
    dim_words();
    line("  const Index groups = (e{0} + {1}) / {2};", last, q - 1, q);
    for (int k = 0; k < n; ++k)
      line("  const bool together{0} = {1}(is{0}_{2} == {3} || is{0}_{2} == -{3});", k,
           planes > 1 ? fmt::format("ps{} == 1 && ", k) : "", last, planes);
    store_kinds(fmt::format("os{}", last));
    if (variant.table && !variant.fills && planes > 1 && out_planes() == planes) whole_groups_to_planes(q);
    line("  for (Index i = begin + static_cast<Index>(threadIdx.x); i < end; i += static_cast<Index>(blockDim.x)) {{");
    line("    Index rest = i;");
    line("    const Index x{0} = rest % groups * {1}; rest /= groups;", last, q);
    outer_positions(last, "    ");
    std::string to = "0";
    for (int d = 0; d <= last; ++d) to += fmt::format(" + x{0} * os{0}", d);
    line("    {}* to = out + ({});", element(out_type()), to);
    line("    const int count = e{0} - x{0} < {1} ? static_cast<int>(e{0} - x{0}) : {1};", last, q);
    if (variant.fills) {
      std::string inside = "true";
      for (int d = 0; d < last; ++d) inside += fmt::format(" && x{0} >= lo{0} && x{0} < hi{0}", d);
      line("    const bool row = {};", inside);
      line("    const bool full = row && count == {1} && x{0} >= lo{0} && x{0} + {1} <= hi{0};", last, q);
    } else {
      line("    const bool full = count == {};", q);
    }
    for (int k = 0; k < n; ++k) {
      const char* T = element(input_dtype(code, k));
      std::string from = "0";
      for (int d = 0; d <= last; ++d) from += fmt::format(" + x{1} * is{0}_{1}", k, d);
      line("    {} g{}[{}][{}];", T, k, q, planes);
      line("    {{ const {}* from = in{} + ({});", T, k, from);
      line("      if (full && together{}) load_group(from, is{}_{} > 0, g{});", k, k, last, k);
      line("      else {{");
      line("        PENSTOCK_UNROLL");
      line("        for (int j = 0; j < {}; ++j)", q);
      line("          for (int p = 0; p < {}; ++p) g{}[j][p] = {} ? from[j * is{}_{} + p * ps{}] : {}(0);", planes, k,
           in_row(last), k, last, k, T);
      line("      }} }}");
    }
    const bool plain = variant.table || code.only_copies;
    if (plain) line("    {} y[{}][{}];", element(out_type()), q, out_planes());
    else declare_results(q, "y", "    ");
    line("    PENSTOCK_UNROLL");
    line("    for (int j = 0; j < {}; ++j) {{", q);
    if (variant.table) {
      line("      for (int p = 0; p < {}; ++p) y[j][p] = result[p * 256 + g0[j][p]];", out_planes());
    } else if (code.only_copies) {
      line("      for (int p = 0; p < {}; ++p) y[j][p] = g0[j][p];", out_planes());
    } else {
      instructions([](int k) { return fmt::format("g{}[j][p]", k); }, "      ", in_row(last));
      keep_result("y", "      ");
    }
    line("    }}");
    if (!plain) finish_results("y", "    ");
    store_group(q, "y", fmt::format("os{}", last), fmt::format("!row || x{0} + j < lo{0} || x{0} + j >= hi{0}", last));
    line("  }}");
    line("}}");
  }

  // The places in the first `dims` dimensions, of what is left of a position's number.
  void outer_positions(int dims, const char* indent) {
    for (int d = dims - 1; d > 0; --d) line("{0}const Index x{1} = rest % e{1}; rest /= e{1};", indent, d);
    if (dims > 0) line("{}const Index x0 = rest;", indent);
  }

  // Pixels side by side to planes, where all groups are whole and aligned, as mostly: a loop with nothing else in it
  // needs few registers, so that many blocks share a multiprocessor.
  void whole_groups_to_planes(int q) {
    const int last = variant.dims - 1, planes = variant.planes;
    const std::string in = fmt::format("Vector<uint8_t, {}>", q * planes),
                      to = fmt::format("Vector<{}, {}>", element(out_type()), q);
    std::string from = "0", at = "0", steps_in = "reinterpret_cast<uint64_t>(in0)", steps_out = "pos";
    for (int d = 0; d <= last; ++d) {
      from += fmt::format(" + x{0} * is0_{0}", d), at += fmt::format(" + x{0} * os{0}", d);
      if (d == last) break;
      steps_in += fmt::format(" | static_cast<uint64_t>(is0_{})", d), steps_out += fmt::format(" | os{}", d);
    }
    line("  if (together0 && is0_{0} > 0 && planar && all_planes && e{0} % {1} == 0 &&", last, q);
    line("      (({}) & (alignof({}) - 1)) == 0 &&", steps_in, in);
    line("      ((reinterpret_cast<uint64_t>(out) | static_cast<uint64_t>({}) * {}) & (alignof({}) - 1)) == 0) {{",
         steps_out, size_of(out_type()), to);
    line("    const Index hop = static_cast<Index>(blockDim.x);");
    line("    for (Index i = begin + static_cast<Index>(threadIdx.x); i < end; i += hop) {{");
    line("      Index rest = i;");
    line("      const Index x{0} = rest % groups * {1}; rest /= groups;", last, q);
    outer_positions(last, "      ");
    line("      const {0} g = *reinterpret_cast<const {0}*>(in0 + ({1}));", in, from);
    line("      {}* to = out + ({});", element(out_type()), at);
    line("      PENSTOCK_UNROLL");
    line("      for (int p = 0; p < {}; ++p) {{", planes);
    line("        {} y;", to);
    line("        PENSTOCK_UNROLL");
    line("        for (int j = 0; j < {}; ++j) y.v[j] = result[p * 256 + g.v[j * {} + p]];", q, planes);
    line("        *reinterpret_cast<{}*>(to + p * pos) = y;", to);
    line("      }}");
    line("    }}");
    line("    return;");
    line("  }}");
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
