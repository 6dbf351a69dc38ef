// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/kernel_writer.h"

#include "cuda/runtime/driver.h"
#include "operator/pixel_source.h"
#include "cuda/kernels/vocabulary.h"

namespace penstock {

DType input_dtype(const StageCode& code, int input) {
  if (input == 0 && code.decodes) return code.program.nodes[0].op->decode_params().dtype;
  return code.program.inputs[input].dtype;
}

const Instruction* KernelWriter::tile_of(int node) const {
  for (const auto& i : code.code)
    if (i.kind == Instruction::tile && i.node == node) return &i;
  return nullptr;
}

void KernelWriter::begin_text(const char* header) {
  text += vocabulary();
  text += kernel_source(header);
  line("namespace penstock {{");
  line("typedef {} Index;", variant.wide ? "int64_t" : "int32_t");
  line("constexpr RowLayout kRow{{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}{}}};", at.inputs, at.dims, at.axes, at.fills,
       at.faults, at.filters, at.picks_planes, at.has_plane, at.warps, at.tiles, at.frames ? ", true" : "");
  if (at.frames) frame_format();
  operators();
}

void KernelWriter::frame_format() {
  const StageNode& node = code.program.nodes[0];
  const FrameFormat f = pixel_source(*node.op)->frame_format();
  const frame::Matrix& m = f.matrix;
  line("struct FrameFormat {{");
  line("  static constexpr int kKind = {}, kHalfX = {}, kHalfY = {}, kStep = {}, kChromaStep = {}, kChannels = {};",
       static_cast<int>(f.kind), f.half_x, f.half_y, f.step, f.chroma_step, f.channels);
  line("  static constexpr bool kBlueFirst = {}, kFrames = {};", f.blue_first, node.type.layout.has('F'));
  line(
      "  PENSTOCK_HD static frame::Matrix matrix() {{ return {{{}, {}, {}, {}, {}, {}, {{}}, {{}}, {{}}, 0, 0, {}}}; "
      "}}",
      m.luma, m.red_of_v, m.green_of_u, m.green_of_v, m.blue_of_u, m.black, m.bits);
  line("}};");
}

std::string entry_text(bool by_value, int blocks) {
  const std::string head = fmt::format("extern \"C\" __global__ void __launch_bounds__({}{}) {}(", kStageThreads,
                                       blocks ? fmt::format(", {}", blocks) : "", kStageEntry);
  const std::string pointer = head + "const char* table) { penstock::run(table); }\n";
  if (!by_value) return pointer;
  return "#ifdef PENSTOCK_EMULATED\n" + pointer +
         fmt::format("#else\nstruct alignas(16) Table {{ char bytes[{}]; }};\n", kTableParameter) + head +
         "const __grid_constant__ Table table) { penstock::run(table.bytes); }\n#endif\n";
}

void KernelWriter::end_text() {
  // Blocks that share a multiprocessor: what is waited for against what fits into registers.
  using Path = StageVariant::Path;
  const bool moves =
      variant.kind <= StageVariant::Kind::positions && (variant.table || code.only_copies || variant.reverses);
  int blocks = moves ? 6 : variant.pixel_rows ? 5 : 4;
  if (variant.kind == StageVariant::Kind::tiled) {
    if (variant.path == Path::sliding) blocks = 2;
    if (variant.path == Path::window && std::max(variant.window_x, variant.window_y) > 16) blocks = 3;
    if (variant.path == Path::streaming) blocks = 3;
  }
  line("}}  // namespace penstock");
  line("{}", entry_text(variant.by_value, blocks));
}

void KernelWriter::operators() {
  for (size_t k = 0; k < code.program.nodes.size(); ++k)
    if (tile_of(static_cast<int>(k))) line("struct Node{} {{ {} }};", k, code.program.nodes[k].op->device_text());
}

std::vector<KernelWriter::Coefs> KernelWriter::coefs() const {
  constexpr size_t kKept = 64;
  std::vector<Coefs> all;
  size_t offset = 0, kept = 0;
  for (size_t k = 0; k < code.program.nodes.size(); ++k) {
    const Instruction* i = tile_of(static_cast<int>(k));
    if (!i) continue;
    const int copies = code.traits[k].per_channel ? std::max(1, variant.planes) : 1;
    const size_t bytes = code.program.nodes[k].op->coef_bytes(i->lane) * copies;
    const bool keep = kept + bytes <= kKept;
    if (keep) kept += bytes;
    all.push_back({k, fmt::format("Node{}::Coef<{}>", k, number(i->lane)), copies, offset, keep});
    offset += (bytes + 15) / 16 * 16;
  }
  return all;
}
std::string KernelWriter::Coefs::all() const {
  std::string text = fmt::format("c{}_at[0]", node);
  for (int p = 1; p < copies; ++p) text += fmt::format(", c{}_at[{}]", node, p);
  return text;
}

void KernelWriter::stage(int group) {
  std::string of_inputs, types;
  for (int k = 0; k < inputs(); ++k) {
    const char* const T = element(input_dtype(code, k));
    of_inputs += fmt::format("{}F<{}>", k ? ", " : "", T), types += fmt::format(", {}", T);
  }
  line("struct Stage {{");
  line("  typedef penstock::Index Index;");
  line("  typedef {} Out;", element(out_type()));
  line("  typedef {} Number;  // a result, before it becomes an element", number(code.values[code.result].lane));
  line("  template <template <class> class F> using OfInputs = Each<{}>;", of_inputs);
  line("  template <int k> using In = typename Nth<k{}>::type;", types);
  line("  static constexpr RowLayout kRow = penstock::kRow;");
  if (at.frames) line("  typedef FrameFormat Frame;");
  line("  static constexpr int kPlanes = {}, kOutPlanes = {}, kGroup = {};", std::max(1, variant.planes), out_planes(),
       group);
  line("  static constexpr bool kOneRow = {}, kTable = {}, kCopies = {}, kReverses = {};", variant.one_row,
       variant.table, code.only_copies || variant.reverses, variant.reverses);
  const bool sampled = code.source >= 0;
  line("  static constexpr bool kResultWithin = {};",
       sampled && source_within && code.result == code.source && out_type() == DType::uint8);
  if (sampled) {
    line("  typedef {} SourceNumber;  // what comes from taps or an affine map", number(code.values[code.source].lane));
    line("  static constexpr bool kSourceStaysBytes = {};", code.source_stays_bytes);
    line("  static constexpr unsigned kFiltered = {};  // bit d: dimension d has taps", variant.filtered);
    line("  static constexpr int kVertical = {}, kWarpX = {}, kWarpY = {}, kWarpZ = {};", variant.vertical,
         variant.warp_x, variant.warp_y, variant.warp_z);
    line("  static constexpr bool kNearest = {};", variant.nearest);
  }
  if (variant.kind == StageVariant::Kind::tiled) {
    line("  static constexpr int kFilterX = {}, kFilterY = {}, kWindowX = {}, kWindowY = {};", variant.filter_x,
         variant.filter_y, variant.window_x, variant.window_y);
    line("  static constexpr bool kAverages = {};", variant.averages);
  }
  line("  struct Coefs {{");
  std::string made;
  for (const Coefs& c : coefs()) {
    line("    const {1}* c{0}{2};", c.node, c.type, c.kept ? "_at" : "");
    made += fmt::format("{}c{}{}(reinterpret_cast<const {}*>(at + {}))", made.empty() ? " : " : ", ", c.node,
                        c.kept ? "_at" : "", c.type, c.offset);
    if (!c.kept) continue;
    line("    {1} c{0}[{2}];", c.node, c.type, c.copies);
    made += fmt::format(", c{}{{{}}}", c.node, c.all());
  }
  line("    __device__ inline explicit Coefs(const char* at){} {{}}", made);
  line("  }};");
  line("  template <class Load>");
  line("  __device__ static inline void apply(const Coefs& coefs, const Load& load,{} Number (&made)[{}],",
       sampled ? fmt::format(" const SourceNumber (&source)[{}],", std::max(1, variant.planes)) : "", out_planes());
  line("                                      int32_t* fault, bool wanted) {{");
  for (const Coefs& c : coefs()) line("    const auto& c{0} = coefs.c{0};", c.node);
  if (sampled) {
    line("    SourceNumber v{}[{}];", code.source, std::max(1, variant.planes));
    line("    for (int p = 0; p < {}; ++p) v{}[p] = source[p];", std::max(1, variant.planes), code.source);
  }
  instructions();
  line("    for (int p = 0; p < {}; ++p) made[p] = v{}[p];", out_planes(), code.result);
  line("  }}");
  line("}};");
}

void KernelWriter::instructions() {
  const char* const indent = "    ";
  int planes = variant.planes;
  std::vector<int> planes_of(code.values.size(), planes);
  auto loop = [&](int n) {
    return n == 1 ? std::string("{ const int p = 0; ") : fmt::format("for (int p = 0; p < {}; ++p) {{ ", n);
  };
  for (const auto& i : code.code) {
    const char* V = number(i.lane);
    switch (i.kind) {
      case Instruction::load:
        planes_of[i.value] = variant.planes;
        line("{}{} v{}[{}];", indent, V, i.value, variant.planes);
        line("{}{}v{}[p] = number_of<{}, {}>({}); }}", indent, loop(variant.planes), i.value, element(i.dtype), V,
             fmt::format("load(Known<{}>(), p)", i.from[0]));
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
          line("{}{}const {} k = ({}).constant; const bool left = ({}).constant_left;", indent, loop(planes), V, coef,
               coef);
          line("{}  const {} a = left ? k : {}, b = left ? {} : k;", indent, V, args, args);
          args = "a, b";
        } else {
          if (t.operands >= 2) args += ", " + operand(i.from[1]);
          if (t.operands >= 3) args += ", " + operand(i.from[2]);
          line("{}{}", indent, loop(planes));
        }
        if (t.faults) line("{}  if (wanted && Node{}::refuses({}, {})) *fault = 1;", indent, i.node, args, coef);
        line("{}  v{}[p] = Node{}::pixel({}, {}); }}", indent, i.value, i.node, args, coef);
        break;
      }
      case Instruction::round:
        if (source_is_bytes && i.value == code.source && &i == &code.code.front()) break;
        if (source_within && i.value == code.source)
          line("{}{}v{}[p] = rounded_within(v{}[p]); }}", indent, loop(planes_of[i.value]), i.value, i.value);
        else
          line("{}{}v{}[p] = rounded_to<{}>(v{}[p]); }}", indent, loop(planes_of[i.value]), i.value, element(i.dtype),
               i.value);
        break;
      case Instruction::convert:
        planes_of[i.value] = planes_of[i.from[0]];
        line("{}{} v{}[{}];", indent, V, i.value, planes_of[i.value]);
        line("{}{}v{}[p] = change_lane<{}, {}>(v{}[p]); }}", indent, loop(planes_of[i.value]), i.value,
             number(i.from_lane), V, i.from[0]);
        break;
      case Instruction::chain: fail(ErrorKind::internal, "a chain in code that is not the CPU's");
    }
  }
}
}  // namespace penstock
