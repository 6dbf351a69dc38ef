// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernel_writer.h"

#include "cuda/vocabulary.h"

namespace penstock {

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

namespace {

// What host and device compilers spell differently; `penstock_shared` is the emulation's.
constexpr const char* kSpellings = R"(
#ifdef PENSTOCK_EMULATED
#define PENSTOCK_SHARED(type, name) type* name = reinterpret_cast<type*>(penstock_shared)
#define PENSTOCK_UNROLL
#define PENSTOCK_NOINLINE
#else
extern __shared__ __align__(16) char penstock_shared[];
#define PENSTOCK_SHARED(type, name) type* name = reinterpret_cast<type*>(penstock_shared)
#define PENSTOCK_UNROLL _Pragma("unroll")
#define PENSTOCK_NOINLINE __noinline__
#endif
namespace penstock {
// to_lane, without the conversion unit for small unsigned integers: it takes a quarter of the arithmetic's rate.
template <class T, class V> PENSTOCK_INLINE V number_of(T v) {
  if constexpr (std::is_same_v<V, float> && (std::is_same_v<T, uint8_t> || std::is_same_v<T, uint16_t>))
    return std::bit_cast<float>(0x4B000000u | v) - 8388608.0f;
  else return to_lane<T, V>(v);
}
// The nearest integer (half to even) within a small type's range, plus 1.5 * 2^23: it is in the low bits. NaN gives 0.
template <class T> PENSTOCK_INLINE float small_integer(float v) {
  constexpr float lo = std::numeric_limits<T>::lowest(), hi = std::numeric_limits<T>::max();
  float c = v > lo ? v : lo;
  c = c < hi ? c : hi;
  if constexpr (std::is_signed_v<T>) c = v == v ? c : 0.0f;
  return c + 12582912.0f;
}
template <class T, class V> inline constexpr bool is_small = std::is_same_v<V, float> && std::is_integral_v<T> && sizeof(T) <= 2 && !std::is_same_v<T, bool>;
// from_lane and round_to, without the conversion unit where that can be.
template <class V, class T> PENSTOCK_INLINE T element_of(V v) {
  if constexpr (is_small<T, V>) return static_cast<T>(std::bit_cast<int32_t>(small_integer<T>(v)));
  else return from_lane<V, T>(v);
}
template <class T, class V> PENSTOCK_INLINE V rounded_to(V v) {
  if constexpr (is_small<T, V>) return small_integer<T>(v) - 12582912.0f;
  else return round_to<T>(v);
}

// The entry whose blocks begin at or before this one; the lanes of a warp look at 32 places at once.
__device__ inline int find_entry(const int32_t* starts, int n, int block) {
#ifdef PENSTOCK_EMULATED
  int lo = 0, hi = n;
  while (hi - lo > 1) { const int mid = (lo + hi) / 2; if (starts[mid] <= block) lo = mid; else hi = mid; }
  return lo;
#else
  int lo = 0;
  const int lane = threadIdx.x & 31;
  while (n > 1) {
    const int step = (n + 31) / 32, place = lane * step;
    const unsigned before = __ballot_sync(~0u, place < n && starts[lo + place] <= block);
    const int k = 31 - __clz(before);
    lo += k * step;
    n = n - k * step < step ? n - k * step : step;
  }
  return lo;
#endif
}
}  // namespace penstock
)";

}  // namespace

const Instruction* KernelWriter::tile_of(int node) const {
  for (const auto& i : code.code)
    if (i.kind == Instruction::tile && i.node == node) return &i;
  return nullptr;
}

void KernelWriter::begin_text(const std::string& more) {
  text += vocabulary();
  text += kSpellings;
  text += more;
  line("namespace penstock {{");
  line("typedef {} Index;", variant.wide ? "int64_t" : "int32_t");
  operators();
}

void KernelWriter::end_text() {
  line("}}  // namespace penstock");
  line("extern \"C\" __global__ void __launch_bounds__({}, {}) {}(const char* table) {{ penstock::run(table); }}", kStageThreads,
       variant.kind == StageVariant::Kind::tiled && variant.path == StageVariant::Path::window ? 3 : 4, kStageEntry);
}

void KernelWriter::operators() {
  for (size_t k = 0; k < code.program.nodes.size(); ++k)
    if (tile_of(static_cast<int>(k)))
      line("struct Node{} {{ {} }};", k, code.program.nodes[k].op->device_text());
}

void KernelWriter::begin_kernel() {
  line("__device__ inline void run(const char* table) {{");
  line("  const int64_t* head = reinterpret_cast<const int64_t*>(table);");
  line("  const int32_t* starts = reinterpret_cast<const int32_t*>(table + head[1]);");
  line("  const int entry = find_entry(starts, static_cast<int>(head[0]), static_cast<int>(blockIdx.x));");
  line("  const int64_t* s = reinterpret_cast<const int64_t*>(table + head[2]) + entry * {};", at.words);
  for (int k = 0; k < inputs(); ++k)
    line("  const {0}* in{1} = reinterpret_cast<const {0}*>(s[{2}]);", element(input_dtype(code, k)), k, at.in + k);
  line("  {0}* out = reinterpret_cast<{0}*>(s[{1}]);", element(out_type()), at.out);
  line("  const Index total = static_cast<Index>(s[{}]);", at.positions);
  line("  const Index block = static_cast<Index>(head[3]);");
  line("  const Index begin = static_cast<Index>(static_cast<int>(blockIdx.x) - starts[entry]) * block;");
  line("  const Index end = total - begin < block ? total : begin + block;");
  if (code.faults) line("  int32_t* fault = reinterpret_cast<int32_t*>(s[{}]);", at.fault);
  coefficients();
}


void KernelWriter::coefficients() {
  size_t offset = 0;
  for (size_t k = 0; k < code.program.nodes.size(); ++k) {
    const Instruction* i = tile_of(static_cast<int>(k));
    if (!i) continue;
    const int copies = code.traits[k].per_channel ? std::max(1, variant.planes) : 1;
    line("  const Node{0}::Coef<{1}>* c{0} = reinterpret_cast<const Node{0}::Coef<{1}>*>(table + s[{2}] + {3});", k,
         number(i->lane), at.coefs, offset);
    offset += (code.program.nodes[k].op->coef_bytes(i->lane) * copies + 15) / 16 * 16;
  }
}

void KernelWriter::instructions(const std::function<std::string(int)>& load, const std::string& indent) {
  int planes = variant.planes;
  std::vector<int> planes_of(code.values.size(), planes);
  auto loop = [&](int n) { return n == 1 ? std::string("{ const int p = 0; ") : fmt::format("for (int p = 0; p < {}; ++p) {{ ", n); };
  for (const auto& i : code.code) {
    const char* V = number(i.lane);
    switch (i.kind) {
      case Instruction::load:
        planes_of[i.value] = variant.planes;
        line("{}{} v{}[{}];", indent, V, i.value, variant.planes);
        line("{}{}v{}[p] = number_of<{}, {}>({}); }}", indent, loop(variant.planes), i.value, element(i.dtype), V, load(i.from[0]));
        break;
      case Instruction::tile: {
        const StageNode& node = code.program.nodes[i.node];
        const StageTraits& t = code.traits[i.node];
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
        line("{}{}v{}[p] = rounded_to<{}>(v{}[p]); }}", indent, loop(planes_of[i.value]), i.value, element(i.dtype), i.value);
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
std::string KernelWriter::stored(const std::string& index) const {
  return fmt::format("element_of<{}, {}>(v{}[{}])", number(code.values[code.result].lane), element(out_type()), code.result,
                     index);
}

std::string KernelWriter::loaded(int input, Lane lane, const std::string& expression) const {
  return fmt::format("number_of<{}, {}>({})", element(input_dtype(code, input)), number(lane), expression);
}

}  // namespace penstock
