// SPDX-License-Identifier: Apache-2.0
// Compiling a stage, and the path of one sample through it.
#include "cpu/stage.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "cpu/stage_state.h"

namespace penstock {

CpuScratch::CpuScratch() : state(std::make_unique<State>()) {}
CpuScratch::~CpuScratch() = default;
CpuStage::~CpuStage() = default;
const StageProgram& CpuStage::program() const { return state_->program; }

namespace {

// Turns the nodes into a list of instructions over compiled values.
class Compiler {
 public:
  explicit Compiler(CpuStage::State& s) : s_(s), convert_(conversions(s.target)) {}

  void compile() {
    const auto& p = s_.program;
    const int n_inputs = static_cast<int>(p.inputs.size());
    types_ = p.inputs;
    by_lane_.resize(n_inputs + p.nodes.size());
    alias_.assign(by_lane_.size(), -1);
    home_.assign(by_lane_.size(), -1);
    for (size_t i = 0; i < p.nodes.size(); ++i) add_node(static_cast<int>(i), n_inputs + static_cast<int>(i));
    const int out = p.outputs.at(0);
    s_.result = home_[out] < 0 ? value_in(out, natural_lane(types_[out].dtype)) : home_[out];
    // Storing rounds as well.
    if (!s_.code.empty() && s_.code.back().kind == Instruction::round && s_.code.back().value == s_.result &&
        s_.code.back().dtype == types_[out].dtype)
      s_.code.pop_back();
    join_multiply_adds();
    assign_slots();
    s_.only_copies = s_.source < 0 && types_[out].dtype == input_dtype() &&
                     std::all_of(s_.code.begin(), s_.code.end(),
                                 [](const Instruction& i) { return i.kind == Instruction::load; });
  }

 private:
  CpuStage::State& s_;
  const Conversions& convert_;
  std::vector<ValueType> types_;
  std::vector<std::map<Lane, int>> by_lane_;  // value -> compiled value in a lane
  std::vector<int> home_;                     // value of a node -> the compiled value that is no converted copy

  std::vector<int> alias_;  // value -> the value that it equals, -1: none. Integer maps move values, no more

  int origin(int value) const {
    while (alias_[value] >= 0) value = alias_[value];
    return value;
  }
  DType input_dtype() const { return types_[0].dtype; }

  int new_value(Lane lane) {
    s_.values.push_back({lane, -1});
    return static_cast<int>(s_.values.size()) - 1;
  }

  // Gives the value of an edge its storage type. Registers that cannot hold all values of an integer type exactly
  // are converted first, so that a saturated value is the same as after storing and loading it.
  void settle(int value, int compiled, DType t) {
    const Lane lane = s_.values[compiled].lane;
    if (is_integer(t) && (lane == Lane::f32 || lane == Lane::f64) && lane_size(lane) <= size_of(t)) {
      Instruction c;
      c.kind = Instruction::convert;
      c.from[0] = compiled;
      c.from_lane = lane, c.lane = natural_lane(t);
      c.value = compiled = new_value(c.lane);
      s_.code.push_back(c);
    }
    by_lane_[value] = {{s_.values[compiled].lane, compiled}};
    home_[value] = compiled;
    round(compiled, t);
  }

  void round(int compiled, DType t) {
    if (!convert_.round[static_cast<int>(t)][static_cast<int>(s_.values[compiled].lane)]) return;
    Instruction r;
    r.kind = Instruction::round;
    r.value = compiled, r.lane = s_.values[compiled].lane, r.dtype = t;
    s_.code.push_back(r);
  }

  int value_in(int value, Lane lane) {
    value = origin(value);
    auto& known = by_lane_[value];
    if (auto it = known.find(lane); it != known.end()) return it->second;
    Instruction i;
    i.lane = lane;
    if (value < static_cast<int>(s_.program.inputs.size())) {
      i.kind = Instruction::load;
      i.from[0] = value;
      i.dtype = types_[value].dtype;
    } else {
      if (home_[value] < 0) fail(ErrorKind::internal, "a stage reads a value that nothing computes");
      i.kind = Instruction::convert;
      i.from[0] = home_[value];
      i.from_lane = s_.values[home_[value]].lane;
    }
    i.value = new_value(lane);
    s_.code.push_back(i);
    known[lane] = i.value;
    return i.value;
  }

  void add_node(int index, int value) {
    const StageNode& node = s_.program.nodes[index];
    const StageTraits t = node.op->traits();
    s_.traits.push_back(t);
    const int first = node.operands.at(0);
    if (t.decodes) {
      s_.decodes = true;
      types_[0].dtype = node.op->decode_params().dtype;
      types_[0].layout = "HWC";
      types_[0].ndim = 3;
    }
    s_.maps |= t.maps || t.decodes;
    s_.filters |= t.filters;
    s_.warps |= t.warps;
    s_.needs_channels |= t.mixes_channels || t.per_channel;
    s_.positional |= t.positional;
    s_.faults |= t.faults;
    types_.push_back(node.type);
    if (t.filters || t.warps) {
      const Lane lane = is_float(node.type.dtype) ? (node.type.dtype == DType::float64 ? Lane::f64 : Lane::f32)
                                                  : natural_lane(input_dtype());
      s_.source = new_value(lane);
      by_lane_[value][lane] = home_[value] = s_.source;
      if (!t.pixels) round(s_.source, node.type.dtype);
    } else if (!t.pixels) {  // an integer map: the same values, perhaps as another type
      if (t.decodes || node.type.dtype == types_[first].dtype) {
        alias_[value] = first;
      } else {
        const int from = origin(first);
        auto& known = by_lane_[from];
        const Lane natural = natural_lane(types_[from].dtype);
        // Integers come from the lane that holds the operand exactly; a float64 would lose bits of 64-bit ones.
        const Lane lane = !known.empty() ? known.begin()->first
                          : !is_float(node.type.dtype) || natural_lane(node.type.dtype) == natural ? natural : Lane::f64;
        Instruction c;  // a copy of its own, so that rounding does not touch the operand
        c.kind = Instruction::convert;
        c.from[0] = value_in(from, lane);
        c.lane = c.from_lane = lane;
        c.value = new_value(lane);
        s_.code.push_back(c);
        settle(value, c.value, node.type.dtype);
      }
    }
    if (t.pixels) {
      std::vector<DType> dtypes;
      for (int o : node.operands) dtypes.push_back(types_[o].dtype);
      const Lane lane = node.op->lane(dtypes, node.type.dtype);
      if (!node.op->tile(s_.target, lane))
        fail(ErrorKind::internal, "{} has no pixel function for its lane", node.op->info->name);
      Instruction i;
      i.kind = Instruction::tile;
      i.node = index;
      i.lane = lane;
      if (s_.source >= 0 && by_lane_[value].size()) {  // this node has filtered already
        i.from[0] = home_[value];
        by_lane_[value].clear();
      } else {
        for (size_t k = 0; k < node.operands.size(); ++k) i.from[k] = value_in(node.operands[k], lane);
      }
      i.value = new_value(lane);
      s_.code.push_back(i);
      settle(value, i.value, node.type.dtype);
    }
  }

  // Whether the instruction is one fused multiply-add with the same coefficients for all planes. That must not depend
  // on the coefficients, so zeros are as good as any.
  bool is_multiply_add(const Instruction& i) const {
    if (i.kind != Instruction::tile || i.lane != Lane::f32 || i.from[0] < 0 || i.from[1] >= 0) return false;
    if (s_.traits[i.node].mixes_channels || s_.traits[i.node].per_channel) return false;
    const std::vector<std::byte> zeros(s_.program.nodes[i.node].op->coef_bytes(Lane::f32));
    float multiply_add[2];
    return s_.program.nodes[i.node].op->fused_multiply_add(zeros.data(), multiply_add);
  }

  void join_multiply_adds() {
    std::vector<int> uses(s_.values.size());
    for (const auto& i : s_.code)
      if (i.kind != Instruction::load)
        for (int f : i.from)
          if (f >= 0) ++uses[f];
    ++uses[s_.result];
    std::vector<Instruction> code;
    for (size_t k = 0; k < s_.code.size();) {
      Instruction joined = s_.code[k];
      std::vector<int> nodes;
      size_t end = k;
      while (end < s_.code.size() && is_multiply_add(s_.code[end]) &&
             (end == k || (s_.code[end].from[0] == s_.code[end - 1].value && uses[s_.code[end - 1].value] == 1)))
        nodes.push_back(s_.code[end++].node);
      if (nodes.size() < 2) {
        code.push_back(joined);
        ++k;
        continue;
      }
      joined.kind = Instruction::multiply_adds;
      joined.value = s_.code[end - 1].value;
      joined.node = static_cast<int>(s_.multiply_adds.size());
      s_.multiply_adds.push_back(std::move(nodes));
      code.push_back(joined);
      k = end;
    }
    s_.code = std::move(code);
  }

  void assign_slots() {
    std::vector<int> last(s_.values.size(), -1);
    for (size_t k = 0; k < s_.code.size(); ++k) {
      const auto& i = s_.code[k];
      if (i.kind != Instruction::load)
        for (int f : i.from)
          if (f >= 0) last[f] = static_cast<int>(k);
      last[i.value] = std::max(last[i.value], static_cast<int>(k));
    }
    last[s_.result] = static_cast<int>(s_.code.size());
    std::vector<int> idle;
    int used = 0;
    auto take = [&] {
      if (!idle.empty()) {
        const int slot = idle.back();
        idle.pop_back();
        return slot;
      }
      if (used == kMaxRegisters) fail(ErrorKind::internal, "a stage needs more than {} registers", kMaxRegisters);
      return used++;
    };
    if (s_.source >= 0) s_.values[s_.source].slot = take();
    for (size_t k = 0; k < s_.code.size(); ++k) {
      auto& i = s_.code[k];
      auto release = [&] {
        if (i.kind == Instruction::load) return;
        for (int f : i.from)
          if (f >= 0 && last[f] == static_cast<int>(k) && f != i.value) {
            idle.push_back(s_.values[f].slot);
            last[f] = -2;
          }
      };
      // Lanes differ in width, so a conversion cannot be done in place.
      const bool in_place = i.kind != Instruction::convert;
      if (in_place) release();
      if (s_.values[i.value].slot < 0) s_.values[i.value].slot = take();
      if (!in_place) release();
      i.slot = s_.values[i.value].slot;
    }
    s_.slots = std::max(1, used);
  }
};

}  // namespace

CpuStage::CpuStage(StageProgram program, Target target) : state_(std::make_unique<State>()) {
  if (program.inputs.size() > 4) fail(ErrorKind::internal, "a stage has at most four inputs");
  state_->program = std::move(program);
  state_->target = target;
  Compiler(*state_).compile();
  int tiles = 0;
  for (const auto& i : state_->code) tiles += i.kind == Instruction::tile ? 1 : i.kind == Instruction::multiply_adds ? 2 : 0;
  state_->lookup = tiles > 0 && !state_->filters && !state_->warps && !state_->needs_channels && !state_->positional &&
                   !state_->faults && state_->program.inputs.size() == 1 && !state_->decodes &&
                   state_->program.inputs[0].dtype == DType::uint8 &&
                   (tiles > 1 || state_->program.nodes.back().type.dtype == DType::uint8);
}

void CpuStage::shapes(const SampleContext& s, std::span<const Shape> in, std::span<Shape> out) const {
  const auto& p = state_->program;
  std::vector<Shape> shapes(in.begin(), in.end());
  std::vector<ValueType> types(p.inputs.begin(), p.inputs.end());
  for (const auto& node : p.nodes) {
    std::vector<Shape> operand_shapes;
    std::vector<ValueType> operand_types;
    for (int o : node.operands) operand_shapes.push_back(shapes[o]), operand_types.push_back(types[o]);
    SampleContext c = s;
    c.node = node.id;
    Shape result;
    node.op->shapes(c, operand_shapes, operand_types, std::span(&result, 1));
    shapes.push_back(result);
    types.push_back(node.type);
  }
  for (size_t i = 0; i < p.outputs.size(); ++i) out[i] = shapes[p.outputs[i]];
}

namespace {
// The source positions that dimension d of the placement reads, as a range.
void source_range(const Placement& p, int d, CpuScratch::State& scratch, int64_t& lo, int64_t& hi) {
  const DimMap& m = p[d];
  int64_t a = 0, b = m.extent;  // positions of the window that are read
  if (p.warps()) {
    // A warp may read anything in its window.
  } else {
    int64_t vlo, vhi;
    m.valid(vlo, vhi);
    if (m.filter) {
      // Width has slot 0 and height slot 1 in run_filtered, which finds the tables made.
      const TapTable& taps = filter_taps(scratch, d == 0 ? 1 : 0, m);
      a = taps.lowest, b = taps.highest;
    } else {
      a = vlo, b = vhi;
    }
  }
  if (b <= a) {
    lo = hi = 0;
    return;
  }
  const int64_t first = m.start + m.step * a, last = m.start + m.step * (b - 1);
  lo = std::clamp<int64_t>(std::min(first, last), 0, m.in);
  hi = std::clamp<int64_t>(std::max(first, last) + 1, lo, m.in);
}
}  // namespace

void CpuStage::run(const SampleContext& context, std::span<const StageInput> in, const AllocateOutput& allocate,
                   StageScratch& any_scratch) const {
  auto& scratch = static_cast<CpuScratch&>(any_scratch);
  const State& st = *state_;
  const auto& p = st.program;
  SampleRun run{st, context, *scratch.state, conversions(st.target), {}, {}, {}, -1, 1, 1, nullptr, {}};
  std::vector<Shape> in_shapes(in.size());
  ImageInfo image;
  DecodeParams decode;
  for (size_t i = 0; i < in.size(); ++i) {
    run.inputs[i] = in[i].view;
    in_shapes[i] = in[i].view.shape;
  }
  int64_t t0 = 0;
  if (st.decodes) {
    t0 = clock_ns();
    decode = p.nodes[0].op->decode_params();
    image = probe_image(in[0].encoded, decode);
    const Shape s{image.height, image.width, output_channels(image, decode.type)};
    in_shapes[0] = s;
    run.inputs[0] = {nullptr, decode.dtype, "HWC", s, dense_strides(s)};
  }
  Shape out_shape;
  shapes(context, in_shapes, std::span(&out_shape, 1));
  const ValueType& out_type = p.outputs[0] < static_cast<int>(p.inputs.size())
                                  ? p.inputs[p.outputs[0]] : p.nodes[p.outputs[0] - p.inputs.size()].type;

  // Iteration dimensions: those of input 0 where maps are, else those of the result.
  // Without maps the inputs broadcast to the result, whose dimensions keep their places.
  Layout layout = st.decodes ? Layout("HWC") : st.maps ? p.inputs[0].layout : out_type.layout;
  std::optional<Placement> placement;
  if (st.maps) {
    placement.emplace(in_shapes[0], layout);
    for (size_t i = 0; i < p.nodes.size(); ++i)
      if (st.traits[i].maps) {
        SampleContext c = context;
        c.node = p.nodes[i].id;
        p.nodes[i].op->map(c, *placement);
      }
    run.placement = &*placement;
  }

  if (st.decodes) {
    int64_t lo[3], hi[3];
    for (int d = 0; d < 3; ++d) source_range(*placement, d, *scratch.state, lo[d], hi[d]);
    const Region region{lo[0], lo[1], hi[0] - lo[0], hi[1] - lo[1]};
    const int64_t channels = in_shapes[0][2];
    const int64_t row = region.width * channels;
    const bool whole_is_output = st.only_copies && out_type.layout == layout && (*placement)[0].identity() &&
                                 (*placement)[1].identity() && (*placement)[2].identity();
    if (whole_is_output) {
      run.output = allocate(0, out_type.dtype, out_shape, out_type.layout);
      if (region.height > 0 && row > 0)
        decode_image(in[0].encoded, image, decode, region,
                     {run.output.data, row * static_cast<int64_t>(size_of(decode.dtype))});
      scratch.times.decode_ns += clock_ns() - t0;
      return;
    }
    const size_t bytes = checked_bytes(region.height * row, size_of(decode.dtype));
    auto& pixels = scratch.state->pixels;
    if (pixels.size() < bytes + 65) pixels.resize(bytes + 65);
    // Bytes begin at an odd address: libjpeg-turbo writes aligned rows past the caches, and they are read at once.
    uint8_t* const decoded = pixels.data() + (decode.dtype == DType::uint8);
    if (region.height > 0 && row > 0)
      decode_image(in[0].encoded, image, decode, region,
                   {decoded, row * static_cast<int64_t>(size_of(decode.dtype))});
    run.inputs[0].data = decoded;
    run.inputs[0].shape = Shape{region.height, region.width, channels};
    run.inputs[0].strides = dense_strides(run.inputs[0].shape);
    run.origin[0] = region.y, run.origin[1] = region.x;
    const int64_t t1 = clock_ns();
    scratch.times.decode_ns += t1 - t0;
    t0 = t1;
  } else {
    t0 = clock_ns();
  }

  run.output = allocate(0, out_type.dtype, out_shape, out_type.layout);
  if (out_shape.volume() == 0) return;

  // Which output dimension each iteration dimension goes to.
  const int n = run.placement ? run.placement->ndim() : out_shape.size();
  run.out_dim.resize(n);
  for (int d = 0; d < n; ++d) {
    const int k = layout.empty() || out_type.layout.empty() || d >= layout.size() ? -1 : out_type.layout.find(layout[d]);
    run.out_dim[d] = k >= 0 ? k : d;
  }
  if (st.needs_channels || st.filters || st.warps) {
    run.plane_dim = layout.find('C');
    if (run.plane_dim < 0 && st.needs_channels && layout.empty() && n > 0) run.plane_dim = n - 1;
    // More channels than registers: where no pixel function looks at them they are a loop around.
    if (run.plane_dim >= 0 && !st.needs_channels && in_shapes[0][run.plane_dim] > kMaxPlanes) run.plane_dim = -1;
    if (run.plane_dim >= 0) {
      if (!run.placement) {  // the inputs' channels: an operator may change their number
        for (const Shape& s : in_shapes)
          if (const int at = run.plane_dim - (n - s.size()); at >= 0)
            run.in_planes = std::max(run.in_planes, static_cast<int>(std::min<int64_t>(s[at], kMaxPlanes + 1)));
      } else {
        int64_t lo, hi;
        (*run.placement)[run.plane_dim].valid(lo, hi);
        run.in_planes = static_cast<int>(hi - lo);
      }
    }
  }
  if (run.in_planes > kMaxPlanes) bad_argument("at most {} channels are supported here, got {}", kMaxPlanes, run.in_planes);
  run.out_planes = run.in_planes;
  for (const auto& node : p.nodes) run.out_planes = node.op->channels(run.out_planes);
  if (run.out_planes > kMaxPlanes) bad_argument("at most {} channels are supported here, got {}", kMaxPlanes, run.out_planes);

  if (run.placement) {
    bool partly = false, nothing = false;
    for (int d = 0; d < n; ++d) {
      int64_t lo, hi;
      (*run.placement)[d].valid(lo, hi);
      partly |= hi - lo != (*run.placement)[d].out;
      nothing |= hi == lo;
    }
    if (partly)
      fill_strided(run.output, run.placement->fill_values(),
                   run.plane_dim >= 0 ? run.out_dim[run.plane_dim] : out_type.layout.find('C'));
    if (nothing) return;  // the window lies outside of the input
  }
  prepare_coefficients(run, run.in_planes);
  if (run.placement && run.placement->warps()) run_affine(run);
  else if (st.source >= 0 && run_picked(run)) {
  } else if (st.source >= 0) run_filtered(run);
  else run_direct(run);
  scratch.times.pixels_ns += clock_ns() - t0;
}

namespace {
class CpuBackend final : public Backend {
 public:
  const char* name() const override { return "cpu"; }
  std::string why_not() const override { return {}; }
  std::unique_ptr<StageRunner> make_stage(StageProgram program) override {
    return std::make_unique<CpuStage>(std::move(program));
  }
  std::unique_ptr<StageScratch> make_scratch() override { return std::make_unique<CpuScratch>(); }
};
const bool registered = (register_backend(DeviceKind::cpu, std::make_unique<CpuBackend>()), true);
}  // namespace

}  // namespace penstock
