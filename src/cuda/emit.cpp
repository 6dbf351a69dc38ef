// SPDX-License-Identifier: Apache-2.0
#include "cuda/emit.h"

#include <algorithm>

#include "cuda/vocabulary.h"

namespace penstock {
namespace {

const char* number(Lane l) {
  switch (l) {
    case Lane::f64: return "double";
    case Lane::i32: return "int32_t";
    case Lane::i64: return "int64_t";
    case Lane::u64: return "uint64_t";
    default: return "float";
  }
}
const char* element(DType t) {
  switch (t) {
    case DType::uint8: return "uint8_t";
    case DType::uint16: return "uint16_t";
    case DType::uint32: return "uint32_t";
    case DType::uint64: return "uint64_t";
    case DType::int8: return "int8_t";
    case DType::int16: return "int16_t";
    case DType::int32: return "int32_t";
    case DType::int64: return "int64_t";
    case DType::float16: return "Half";
    case DType::float64: return "double";
    case DType::bool_: return "bool";
    default: return "float";
  }
}
DType input_dtype(const StageCode& code, int input) {
  if (input == 0 && code.decodes) return code.program.nodes[0].op->decode_params().dtype;
  return code.program.inputs[input].dtype;
}

constexpr int kElements = 16;  // of a thread, kind elements

// What host and device compilers spell differently; `penstock_shared` is the emulation's.
constexpr const char* kSpellings = R"(
#ifdef PENSTOCK_EMULATED
#define PENSTOCK_SHARED(type, name) type* name = reinterpret_cast<type*>(penstock_shared)
#define PENSTOCK_UNROLL
#else
extern __shared__ __align__(16) char penstock_shared[];
#define PENSTOCK_SHARED(type, name) type* name = reinterpret_cast<type*>(penstock_shared)
#define PENSTOCK_UNROLL _Pragma("unroll")
#endif
)";

class Emitter {
 public:
  Emitter(const StageCode& code, const StageVariant& v) : code_(code), v_(v), at_(code, v) {}

  std::string text() {
    out_ = vocabulary();
    out_ += kSpellings;
    line("namespace penstock {{");
    line("typedef {} Index;", v_.wide ? "int64_t" : "int32_t");
    operators();
    if (v_.kind == StageVariant::Kind::elements) elements_kernel();
    else positions_kernel();
    line("}}  // namespace penstock");
    line("extern \"C\" __global__ void {}(const char* table) {{ penstock::run(table); }}", kStageEntry);
    return std::move(out_);
  }

 private:
  const StageCode& code_;
  const StageVariant& v_;
  const EntryLayout at_;
  std::string out_;

  template <class... A> void line(fmt::format_string<A...> f, A&&... a) {
    out_ += fmt::format(f, std::forward<A>(a)...) + "\n";
  }
  const Instruction* tile_of(int node) const {
    for (const auto& i : code_.code)
      if (i.kind == Instruction::tile && i.node == node) return &i;
    return nullptr;
  }
  DType out_type() const { return type_of(code_.program, code_.program.outputs[0]).dtype; }
  int inputs() const { return static_cast<int>(code_.program.inputs.size()); }

  void operators() {
    for (size_t k = 0; k < code_.program.nodes.size(); ++k)
      if (tile_of(static_cast<int>(k)))
        line("struct Node{} {{ {} }};", k, code_.program.nodes[k].op->device_text());
  }

  // Where an entry is found and its words are read.
  void find_entry() {
    line("__device__ inline int find_entry(const int32_t* starts, int n, int block) {{");
    line("  int lo = 0, hi = n;");
    line("  while (hi - lo > 1) {{ const int mid = (lo + hi) / 2; if (starts[mid] <= block) lo = mid; else hi = mid; }}");
    line("  return lo;");
    line("}}");
  }
  void begin_kernel() {
    find_entry();
    line("__device__ inline void run(const char* table) {{");
    line("  const int64_t* head = reinterpret_cast<const int64_t*>(table);");
    line("  const int32_t* starts = reinterpret_cast<const int32_t*>(table + head[1]);");
    line("  const int entry = find_entry(starts, static_cast<int>(head[0]), static_cast<int>(blockIdx.x));");
    line("  const int64_t* s = reinterpret_cast<const int64_t*>(table + head[2]) + entry * {};", at_.words);
    for (int k = 0; k < inputs(); ++k)
      line("  const {0}* in{1} = reinterpret_cast<const {0}*>(s[{2}]);", element(input_dtype(code_, k)), k, at_.in + k);
    line("  {0}* out = reinterpret_cast<{0}*>(s[{1}]);", element(out_type()), at_.out);
    line("  const Index total = static_cast<Index>(s[{}]);", at_.positions);
    line("  const Index begin = static_cast<Index>(static_cast<int>(blockIdx.x) - starts[entry]) * {};",
         block_positions(code_, v_));
    line("  const Index end = begin + {0} < total ? begin + {0} : total;", block_positions(code_, v_));
    if (code_.faults) line("  int32_t* fault = reinterpret_cast<int32_t*>(s[{}]);", at_.fault);
    coefficients();
  }

  void coefficients() {
    size_t offset = 0;
    for (size_t k = 0; k < code_.program.nodes.size(); ++k) {
      const Instruction* i = tile_of(static_cast<int>(k));
      if (!i) continue;
      const int copies = code_.traits[k].per_channel ? std::max(1, v_.planes) : 1;
      line("  const Node{0}::Coef<{1}>* c{0} = reinterpret_cast<const Node{0}::Coef<{1}>*>(table + s[{2}] + {3});", k,
           number(i->lane), at_.coefs, offset);
      offset += (code_.program.nodes[k].op->coef_bytes(i->lane) * copies + 15) / 16 * 16;
    }
  }

  // The instructions on P planes; values are arrays v<value>[]. `load` gives the expression of an input's element.
  template <class Load> void instructions(Load&& load, const std::string& indent) {
    int planes = v_.planes;
    std::vector<int> planes_of(code_.values.size(), planes);
    auto loop = [&](int n) { return n == 1 ? std::string("{ const int p = 0; ") : fmt::format("for (int p = 0; p < {}; ++p) {{ ", n); };
    for (const auto& i : code_.code) {
      const char* V = number(i.lane);
      switch (i.kind) {
        case Instruction::load:
          planes_of[i.value] = v_.planes;
          line("{}{} v{}[{}];", indent, V, i.value, v_.planes);
          line("{}{}v{}[p] = to_lane<{}, {}>({}); }}", indent, loop(v_.planes), i.value, element(i.dtype), V, load(i.from[0]));
          break;
        case Instruction::tile: {
          const StageNode& node = code_.program.nodes[i.node];
          const StageTraits& t = code_.traits[i.node];
          const int before = planes;
          planes = node.op->channels(planes);
          planes_of[i.value] = planes;
          line("{}{} v{}[{}];", indent, V, i.value, std::max(planes, 1));
          if (t.mixes_channels) {
            const int g = before > 2 ? 1 : 0, b = before > 2 ? 2 : 0;
            line("{}{{ const Rgb<{}> q = Node{}::pixel(Rgb<{}>{{v{}[0], v{}[{}], v{}[{}]}}, *c{});", indent, V, i.node, V,
                 i.from[0], i.from[0], g, i.from[0], b, i.node);
            if (planes == 1) line("{}  v{}[0] = q.r; }}", indent, i.value);
            else {
              line("{}  v{}[0] = q.r; v{}[1] = q.g; {} }}", indent, i.value, i.value,
                   planes > 2 ? fmt::format("v{}[2] = q.b;", i.value) : "");
              for (int p = 3; p < planes; ++p)
                line("{}v{}[{}] = {};", indent, i.value, p, p < before ? fmt::format("v{}[{}]", i.from[0], p) : "0");
            }
            break;
          }
          const std::string coef = t.per_channel ? fmt::format("c{}[p]", i.node) : fmt::format("*c{}", i.node);
          auto operand = [&](int f) { return fmt::format("v{}[p]", f); };
          std::string args = operand(i.from[0]);
          if (t.operands == 2 && i.from[1] < 0) {
            line("{}{}const {} k = ({}).constant; const bool left = ({}).constant_left;", indent, loop(planes), V, coef, coef);
            line("{}  const {} a = left ? k : {}, b = left ? {} : k;", indent, V, args, args);
            args = "a, b";
          } else {
            if (t.operands >= 2) args += ", " + operand(i.from[1]);
            if (t.operands >= 3) args += ", " + operand(i.from[2]);
            line("{}{}", indent, loop(planes));
          }
          if (t.faults) line("{}  if (Node{}::refuses({}, {})) *fault = 1;", indent, i.node, args, coef);
          line("{}  v{}[p] = Node{}::pixel({}, {}); }}", indent, i.value, i.node, args, coef);
          break;
        }
        case Instruction::round:
          line("{}{}v{}[p] = round_to<{}>(v{}[p]); }}", indent, loop(planes_of[i.value]), i.value, element(i.dtype), i.value);
          break;
        case Instruction::convert:
          planes_of[i.value] = planes_of[i.from[0]];
          line("{}{} v{}[{}];", indent, V, i.value, planes_of[i.value]);
          line("{}{}v{}[p] = change_lane<{}, {}>(v{}[p]); }}", indent, loop(planes_of[i.value]), i.value, number(i.from_lane), V,
               i.from[0]);
          break;
        case Instruction::chain: fail(ErrorKind::internal, "a chain in code that is not the CPU's");
      }
    }
  }
  std::string stored(const std::string& index) const {
    return fmt::format("from_lane<{}, {}>(v{}[{}])", number(code_.values[code_.result].lane), element(out_type()), code_.result,
                       index);
  }

  // One dense row: threads take 16 neighbors, as vectors where addresses allow it.
  void elements_kernel() {
    const int n = inputs();
    line("template <class T> struct alignas(sizeof(T) * {0} > 16 ? 16 : sizeof(T) * {0}) Pack {{ T v[{0}]; }};", kElements);
    if (v_.table) line("__device__ inline {0} one({1} x0, const char* table, const int64_t* s) {{", element(out_type()), element(input_dtype(code_, 0)));
    if (v_.table) {
      coefficients();
      instructions([](int) { return std::string("x0"); }, "  ");
      line("  return {};", stored("0"));
      line("}}");
    }
    begin_kernel();
    if (v_.table) {
      line("  PENSTOCK_SHARED({}, result);", element(out_type()));
      line("  for (int i = threadIdx.x; i < 256; i += blockDim.x) result[i] = one(static_cast<uint8_t>(i), table, s);");
      line("  __syncthreads();");
    }
    line("  const bool aligned = {} 0;", [&] {
      std::string all = fmt::format("((reinterpret_cast<uint64_t>(out) & {}) |", align(out_type()));
      for (int k = 0; k < n; ++k)
        all += fmt::format(" (reinterpret_cast<uint64_t>(in{}) & {}) |", k, align(input_dtype(code_, k)));
      return all.substr(0, all.size() - 2) + ") ==";
    }());
    line("  for (Index i = begin + {0} * threadIdx.x; i < end; i += {0} * blockDim.x) {{", kElements);
    line("    if (aligned && i + {} <= end) {{", kElements);
    for (int k = 0; k < n; ++k) line("      const auto x{0} = *reinterpret_cast<const Pack<{1}>*>(in{0} + i);", k, element(input_dtype(code_, k)));
    line("      Pack<{}> y;", element(out_type()));
    line("      PENSTOCK_UNROLL");
    line("      for (int e = 0; e < {}; ++e) {{", kElements);
    if (v_.table) {
      line("        y.v[e] = result[x0.v[e]];");
    } else {
      instructions([](int k) { return fmt::format("x{}.v[e]", k); }, "        ");
      line("        y.v[e] = {};", stored("0"));
    }
    line("      }}");
    line("      *reinterpret_cast<Pack<{}>*>(out + i) = y;", element(out_type()));
    line("    }} else {{");
    line("      for (Index e = i; e < i + {} && e < end; ++e) {{", kElements);
    if (v_.table) {
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
    const bool filtered = v_.kind == StageVariant::Kind::filtered, warped = v_.kind == StageVariant::Kind::warped;
    for (int d = 0; d < v_.dims; ++d) {
      line("  const Index e{} = static_cast<Index>(s[{}]), os{} = static_cast<Index>(s[{}]);", d, at_.dim(d), d, at_.dim(d) + 3);
      if (v_.fills) line("  const Index lo{0} = static_cast<Index>(s[{1}]), hi{0} = static_cast<Index>(s[{2}]);", d, at_.dim(d) + 1, at_.dim(d) + 2);
      else if (filtered || warped) line("  const Index lo{} = 0;", d);
      for (int k = 0; k < n; ++k) line("  const Index is{}_{} = static_cast<Index>(s[{}]);", k, d, at_.dim(d) + 4 + k);
    }
    if (v_.has_plane) {
      line("  const Index pos = static_cast<Index>(s[{}]), plo = static_cast<Index>(s[{}]), pn = static_cast<Index>(s[{}]);",
           at_.plane + 3, at_.plane + 1, at_.plane);
      for (int k = 0; k < n; ++k) line("  const Index ps{} = static_cast<Index>(s[{}]);", k, at_.plane + 4 + k);
    } else {
      line("  const Index pos = 0, plo = 0;");
      for (int k = 0; k < n; ++k) line("  const Index ps{} = 0;", k);
    }
    if (v_.picks_planes) line("  const int32_t* pick = reinterpret_cast<const int32_t*>(table + s[{}]);", at_.plane_pick);
    if (v_.fills) line("  const {0}* fill = reinterpret_cast<const {0}*>(table + s[{1}]);", element(out_type()), at_.fill);
    for (int k = 0; k < at_.n_axes; ++k) {
      line("  const int taps{} = static_cast<int>(s[{}]);", k, at_.axis(k));
      line("  const int32_t* first{} = reinterpret_cast<const int32_t*>(table + s[{}]);", k, at_.axis(k) + 1);
      line("  const float* weight{} = reinterpret_cast<const float*>(table + s[{}]);", k, at_.axis(k) + 2);
      line("  const Index step{0} = static_cast<Index>(s[{1}]) * is0_{2};", k, at_.axis(k) + 3, axis_dim(k));
    }
    if (filtered) line("  const bool indexed = s[{}] != 0;", at_.indexed);
    if (warped) warp_setup();
    line("  for (Index i = begin + threadIdx.x; i < end; i += blockDim.x) {{");
    line("    Index rest = i;");
    for (int d = v_.dims - 1; d >= 0; --d) {
      if (d > 0) line("    const Index x{0} = rest % e{0}; rest /= e{0};", d);
      else line("    const Index x0 = rest;");
    }
    std::string to = "0";
    for (int d = 0; d < v_.dims; ++d) to += fmt::format(" + x{0} * os{0}", d);
    line("    const Index o = {};", to);
    if (v_.fills) {
      std::string inside = "true";
      for (int d = 0; d < v_.dims; ++d) inside += fmt::format(" && x{0} >= lo{0} && x{0} < hi{0}", d);
      line("    if (!({})) {{", inside);
      if (v_.has_plane) line("      for (Index p = 0; p < pn; ++p) out[o + p * pos] = fill[p];");
      else line("      out[o] = fill[0];");
      line("      continue;");
      line("    }}");
    }
    for (int k = 0; k < n; ++k) {
      std::string from = "0";
      for (int d = 0; d < v_.dims; ++d) {
        const bool special = k == 0 && ((v_.filtered >> d & 1) || (warped && d >= warp_first()));
        if (!special) from += fmt::format(" + x{1} * is{0}_{1}", k, d);
      }
      line("    const Index a{} = {};", k, from);
    }
    if (v_.planes == 0) {
      line("    for (Index plane = 0; plane < pn_in; ++plane) {{");
    }
    auto load = [&](int k) { return fmt::format("in{0}[a{0} + {1}]", k, plane_offset(k)); };
    if (filtered) filtered_source();
    if (warped) warped_source();
    instructions(load, "    ");
    const int out_planes = std::max(1, v_.out_planes);
    if (out_planes == 1) line("    out[o + plo * pos] = {};", stored("0"));
    else line("    for (int p = 0; p < {}; ++p) out[o + (plo + p) * pos] = {};", out_planes, stored("p"));
    if (v_.fills && v_.has_plane) {
      line("    for (Index p = 0; p < plo; ++p) out[o + p * pos] = fill[p];");
      line("    for (Index p = plo + {}; p < pn; ++p) out[o + p * pos] = fill[p];", out_planes);
    }
    line("  }}");
    line("}}");
  }
  std::string plane_offset(int k) const {
    if (!v_.has_plane) return "0";
    return v_.picks_planes && k == 0 ? "static_cast<Index>(pick[p]) * ps0" : fmt::format("p * ps{}", k);
  }
  int axis_dim(int k) const {  // axes count filtered dimensions from the innermost
    for (int d = v_.dims - 1; d >= 0; --d)
      if (v_.filtered >> d & 1)
        if (k-- == 0) return d;
    return 0;
  }

  // The sum over taps: the innermost dimension last, as on the CPU.
  void filtered_source() {
    const char* V = number(code_.values[code_.source].lane);
    const char* T = element(input_dtype(code_, 0));
    line("    {} v{}[{}];", V, code_.source, v_.planes);
    for (int k = 0; k < at_.n_axes; ++k) {
      line("    const Index t{0} = x{1} - lo{1}, f{0} = static_cast<Index>(first{0}[t{0}]) * step{0};", k, axis_dim(k));
      line("    const float* w{0} = weight{0} + t{0} * taps{0};", k);
    }
    std::string first = "a0";
    for (int k = 0; k < at_.n_axes; ++k) first += fmt::format(" + f{}", k);
    line("    const Index corner = {};", first);
    line("    for (int p = 0; p < {}; ++p) {{", v_.planes);
    line("      const Index q = corner + {};", plane_offset(0));
    line("      if (indexed) {{ v{}[p] = to_lane<{}, {}>(in0[q]); continue; }}", code_.source, T, V);
    std::string offset = "q", indent = "      ";
    line("      float r0 = 0;");
    for (int k = 0; k < at_.n_axes; ++k) {
      const bool vertical = axis_dim(k) == v_.vertical;
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
    line("{}r{} = to_lane<{}, float>(in0[{}]);", indent, at_.n_axes, T, offset);
    for (int k = at_.n_axes - 1; k >= 0; --k) {
      const std::string begins = axis_dim(k) == v_.vertical ? fmt::format("from{}", k) : "0";
      line("{0}r{1} = b{1} == {2} ? w{1}[b{1}] * r{3} : fma(w{1}[b{1}], r{3}, r{1});", indent, k, begins, k + 1);
      indent.resize(indent.size() - 2);
      line("{}}}", indent);
    }
    line("      v{}[p] = change_lane<float, {}>(r0);", code_.source, V);
    line("    }}");
  }

  int warp_first() const { return v_.dims - 2; }
  void warp_setup() {}
  void warped_source() {}
};

}  // namespace

EntryLayout::EntryLayout(const StageCode& code, const StageVariant& v) {
  inputs = static_cast<int>(code.program.inputs.size());
  dim_words = 4 + inputs;
  n_axes = __builtin_popcount(v.filtered);
  int at = 0;
  auto take = [&](int n) {
    const int begin = at;
    at += n;
    return begin;
  };
  in = take(inputs), out = take(1), positions = take(1), coefs = take(1);
  fill = take(v.fills), fault = take(code.faults), indexed = take(v.filtered != 0), plane_pick = take(v.picks_planes);
  plane = take(v.has_plane ? dim_words : 0);
  dims = take(v.kind == StageVariant::Kind::elements ? 0 : v.dims * dim_words);
  axes = take(4 * n_axes);
  affine = take(v.kind == StageVariant::Kind::warped ? 16 : 0);
  words = at;
}

int64_t block_positions(const StageCode&, const StageVariant& v) {
  return v.kind == StageVariant::Kind::elements ? int64_t{kStageThreads} * kElements * 2 : kStageThreads * 4;
}
size_t shared_bytes(const StageCode& code, const StageVariant& v) {
  return v.table ? 256 * size_of(type_of(code.program, code.program.outputs[0]).dtype) : 0;
}
std::string emit_stage(const StageCode& code, const StageVariant& v) { return Emitter(code, v).text(); }

}  // namespace penstock
