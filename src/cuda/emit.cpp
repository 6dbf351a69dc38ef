// SPDX-License-Identifier: Apache-2.0
#include "cuda/emit.h"

#include <algorithm>

#include "cuda/kernel_writer.h"

namespace penstock {
namespace {

constexpr int kElements = 16;  // of a thread, kind elements

class Emitter : KernelWriter {
 public:
  using KernelWriter::KernelWriter;
  std::string write() {
    begin_text();
    if (variant.kind == StageVariant::Kind::elements) elements_kernel();
    else if (variant.kind == StageVariant::Kind::tiled) write_tiled_kernel(*this);
    else positions_kernel();
    end_text();
    return std::move(text);
  }

 private:
  // One dense row: threads take 16 neighbors, as vectors where addresses allow it.
  void elements_kernel() {
    const int n = inputs();
    line("template <class T> struct alignas(sizeof(T) * {0} > 16 ? 16 : sizeof(T) * {0}) Pack {{ T v[{0}]; }};", kElements);
    if (variant.table) line("__device__ inline {0} one({1} x0, const char* table, const int64_t* s) {{", element(out_type()), element(input_dtype(code, 0)));
    if (variant.table) {
      coefficients();
      instructions([](int) { return std::string("x0"); }, "  ");
      line("  return {};", stored("0"));
      line("}}");
    }
    begin_kernel();
    if (variant.table) {
      line("  PENSTOCK_SHARED({}, result);", element(out_type()));
      line("  for (int i = threadIdx.x; i < 256; i += blockDim.x) result[i] = one(static_cast<uint8_t>(i), table, s);");
      line("  __syncthreads();");
    }
    line("  const bool aligned = {} 0;", [&] {
      std::string all = fmt::format("((reinterpret_cast<uint64_t>(out) & {}) |", align(out_type()));
      for (int k = 0; k < n; ++k)
        all += fmt::format(" (reinterpret_cast<uint64_t>(in{}) & {}) |", k, align(input_dtype(code, k)));
      return all.substr(0, all.size() - 2) + ") ==";
    }());
    line("  for (Index i = begin + {0} * threadIdx.x; i < end; i += {0} * blockDim.x) {{", kElements);
    line("    if (aligned && i + {} <= end) {{", kElements);
    for (int k = 0; k < n; ++k) line("      const auto x{0} = *reinterpret_cast<const Pack<{1}>*>(in{0} + i);", k, element(input_dtype(code, k)));
    line("      Pack<{}> y;", element(out_type()));
    line("      PENSTOCK_UNROLL");
    line("      for (int e = 0; e < {}; ++e) {{", kElements);
    if (variant.table) {
      line("        y.v[e] = result[x0.v[e]];");
    } else {
      instructions([](int k) { return fmt::format("x{}.v[e]", k); }, "        ");
      line("        y.v[e] = {};", stored("0"));
    }
    line("      }}");
    line("      *reinterpret_cast<Pack<{}>*>(out + i) = y;", element(out_type()));
    line("    }} else {{");
    line("      for (Index e = i; e < i + {} && e < end; ++e) {{", kElements);
    if (variant.table) {
      line("        out[e] = result[in0[e]];");
    } else {
      instructions([](int k) { return fmt::format("in{}[e]", k); }, "        ");
      line("        out[e] = {};", stored("0"));
    }
    line("      }}");
    line("    }}");
    line("  }}");
    line("}}");
  }
  static int align(DType t) { return static_cast<int>(std::min<size_t>(16, size_of(t) * kElements)) - 1; }

  void positions_kernel() {
    begin_kernel();
    const int n = inputs();
    const bool filtered = variant.kind == StageVariant::Kind::filtered, warped = variant.kind == StageVariant::Kind::warped;
    for (int d = 0; d < variant.dims; ++d) {
      line("  const Index e{} = static_cast<Index>(s[{}]), os{} = static_cast<Index>(s[{}]);", d, at.dim(d), d, at.dim(d) + 3);
      if (variant.fills) line("  const Index lo{0} = static_cast<Index>(s[{1}]), hi{0} = static_cast<Index>(s[{2}]);", d, at.dim(d) + 1, at.dim(d) + 2);
      else if (filtered || warped) line("  const Index lo{} = 0;", d);
      for (int k = 0; k < n; ++k) line("  const Index is{}_{} = static_cast<Index>(s[{}]);", k, d, at.dim(d) + 4 + k);
    }
    if (variant.has_plane) {
      line("  const Index pos = static_cast<Index>(s[{}]), plo = static_cast<Index>(s[{}]), pn = static_cast<Index>(s[{}]);",
           at.plane + 3, at.plane + 1, at.plane);
      for (int k = 0; k < n; ++k) line("  const Index ps{} = static_cast<Index>(s[{}]);", k, at.plane + 4 + k);
    } else {
      line("  const Index pos = 0, plo = 0;");
      for (int k = 0; k < n; ++k) line("  const Index ps{} = 0;", k);
    }
    if (variant.picks_planes) line("  const int32_t* pick = reinterpret_cast<const int32_t*>(table + s[{}]);", at.plane_pick);
    if (variant.fills) line("  const {0}* fill = reinterpret_cast<const {0}*>(table + s[{1}]);", element(out_type()), at.fill);
    for (int k = 0; k < at.n_axes; ++k) {
      line("  const int taps{} = static_cast<int>(s[{}]);", k, at.axis(k));
      line("  const int32_t* first{} = reinterpret_cast<const int32_t*>(table + s[{}]);", k, at.axis(k) + 1);
      line("  const float* weight{} = reinterpret_cast<const float*>(table + s[{}]);", k, at.axis(k) + 2);
      line("  const Index step{0} = static_cast<Index>(s[{1}]) * is0_{2};", k, at.axis(k) + 3, axis_dim(k));
    }
    if (filtered) line("  const bool indexed = s[{}] != 0;", at.indexed);
    if (warped) warp_setup();
    line("  for (Index i = begin + threadIdx.x; i < end; i += blockDim.x) {{");
    line("    Index rest = i;");
    for (int d = variant.dims - 1; d >= 0; --d) {
      if (d > 0) line("    const Index x{0} = rest % e{0}; rest /= e{0};", d);
      else line("    const Index x0 = rest;");
    }
    std::string to = "0";
    for (int d = 0; d < variant.dims; ++d) to += fmt::format(" + x{0} * os{0}", d);
    line("    const Index o = {};", to);
    if (variant.fills) {
      std::string inside = "true";
      for (int d = 0; d < variant.dims; ++d) inside += fmt::format(" && x{0} >= lo{0} && x{0} < hi{0}", d);
      line("    if (!({})) {{", inside);
      if (variant.has_plane) line("      for (Index p = 0; p < pn; ++p) out[o + p * pos] = fill[p];");
      else line("      out[o] = fill[0];");
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
    const int out_planes = std::max(1, variant.out_planes);
    if (out_planes == 1) line("    out[o + plo * pos] = {};", stored("0"));
    else line("    for (int p = 0; p < {}; ++p) out[o + (plo + p) * pos] = {};", out_planes, stored("p"));
    if (variant.fills && variant.has_plane) {
      line("    for (Index p = 0; p < plo; ++p) out[o + p * pos] = fill[p];");
      line("    for (Index p = plo + {}; p < pn; ++p) out[o + p * pos] = fill[p];", out_planes);
    }
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
    for (int k = 0; k < at.n_axes; ++k) {
      line("    const Index t{0} = x{1} - lo{1}, f{0} = static_cast<Index>(first{0}[t{0}]) * step{0};", k, axis_dim(k));
      line("    const float* w{0} = weight{0} + t{0} * taps{0};", k);
    }
    std::string first = "a0";
    for (int k = 0; k < at.n_axes; ++k) first += fmt::format(" + f{}", k);
    line("    const Index corner = {};", first);
    line("    for (int p = 0; p < {}; ++p) {{", variant.planes);
    line("      const Index q = corner + {};", plane_offset(0));
    line("      if (indexed) {{ v{}[p] = to_lane<{}, {}>(in0[q]); continue; }}", code.source, T, V);
    std::string offset = "q", indent = "      ";
    line("      float r0 = 0;");
    for (int k = 0; k < at.n_axes; ++k) {
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
    line("{}r{} = to_lane<{}, float>(in0[{}]);", indent, at.n_axes, T, offset);
    for (int k = at.n_axes - 1; k >= 0; --k) {
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
    line("  const double* m = reinterpret_cast<const double*>(s + {});", at.affine);
    line("  const int64_t* source_extent = s + {};", at.affine + 12);
    line("  const int64_t source_stride[3] = {{is0_{}, is0_{}, {}}};", variant.warp_x, variant.warp_y,
         variant.warp_z >= 0 ? fmt::format("is0_{}", variant.warp_z) : "0");
    line("  const float outside = *reinterpret_cast<const float*>(table + s[{}]);", at.affine + 15);
    line("  const bool nearest = s[{}] != 0, border_fill = s[{}] != 0;", at.affine + 16, at.affine + 17);
  }
  void warped_source() {
    const Lane lane = code.values[code.source].lane;
    const char* V = number(lane);
    const char* T = element(input_dtype(code, 0));
    const bool real = lane == Lane::f32 || lane == Lane::f64;
    line("    {} v{}[{}];", V, code.source, variant.planes);
    line("    const auto point = affine_point<{}>(m, source_extent, x{}, x{}, {}, nearest);", warp_dims(), variant.warp_x, variant.warp_y,
         variant.warp_z >= 0 ? fmt::format("x{}", variant.warp_z) : "0");
    line("    for (int p = 0; p < {}; ++p) {{", variant.planes);
    line("      const {}* plane = in0 + a0 + {};", T, plane_offset(0));
    auto channel = [&](const char* number_type) {
      line("        auto load = [plane](int64_t offset) {{ return to_lane<{}, {}>(plane[offset]); }};", T, number_type);
      line("        const AffineChannel<{}, {}, decltype(load)> channel{{source_extent, source_stride, border_fill, "
           "fill_in_lane<{}>(outside), load}};", warp_dims(), number_type, number_type);
    };
    line("      if (nearest) {{");
    channel(V);
    line("        v{}[p] = channel.tap(point, 0);", code.source);
    line("      }} else {{");
    channel(real ? V : "double");
    if (real) line("        v{}[p] = channel.linear(point);", code.source);
    else line("        v{}[p] = change_lane<double, {}>(channel.linear(point));", code.source, V);
    line("      }}");
    line("    }}");
  }
};

}  // namespace

EntryLayout::EntryLayout(const StageCode& code, const StageVariant& v) {
  inputs = static_cast<int>(code.program.inputs.size());
  dim_words = 4 + inputs;
  n_axes = v.kind == StageVariant::Kind::tiled ? 0 : __builtin_popcount(v.filtered);
  int at = 0;
  auto take = [&](int n) {
    const int begin = at;
    at += n;
    return begin;
  };
  in = take(inputs), out = take(1), positions = take(1), coefs = take(1);
  fill = take(v.fills), fault = take(code.faults), indexed = take(v.filtered != 0 || v.kind == StageVariant::Kind::tiled), plane_pick = take(v.picks_planes);
  plane = take(v.has_plane ? dim_words : 0);
  dims = take(v.kind == StageVariant::Kind::elements ? 0 : v.dims * dim_words);
  axes = take(4 * n_axes);
  affine = take(v.kind == StageVariant::Kind::warped ? 18 : 0);
  tiles = take(v.kind == StageVariant::Kind::tiled ? 2 * (kTapWords + 4) : 0);
  words = at;
}

int64_t block_positions(const StageCode&, const StageVariant& v) {
  return v.kind == StageVariant::Kind::elements ? int64_t{kStageThreads} * kElements * 2 : kStageThreads * 4;
}
size_t shared_bytes(const StageCode& code, const StageVariant& v) {
  return v.table ? 256 * size_of(type_of(code.program, code.program.outputs[0]).dtype) : 0;
}
std::string emit_stage(const StageCode& code, const StageVariant& v) { return Emitter(code, v).write(); }

}  // namespace penstock
