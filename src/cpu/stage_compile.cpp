// SPDX-License-Identifier: Apache-2.0
// Compiling a stage: nodes become instructions over tile registers.
#include <algorithm>
#include <map>

#include "cpu/stage_state.h"

namespace penstock {

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
    join_chains();
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
    s_.has_frames |= !node.op->frame_arguments.empty();
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

  // Whether the instruction is made of fused multiply-adds. That must not depend on the coefficients, so zeros are as
  // good as any.
  bool is_multiply_adds(const Instruction& i) const {
    if (i.kind != Instruction::tile || i.lane != Lane::f32 || i.from[0] < 0 || i.from[1] >= 0) return false;
    if (s_.traits[i.node].mixes_channels) return false;
    const std::vector<std::byte> zeros(s_.program.nodes[i.node].op->coef_bytes(Lane::f32));
    float multiply_adds[4];
    return s_.program.nodes[i.node].op->fused_multiply_adds(zeros.data(), multiply_adds) > 0;
  }
  static bool rounds_in_chain(const Instruction& i) {
    return i.kind == Instruction::round && i.lane == Lane::f32 && (i.dtype == DType::uint8 || i.dtype == DType::uint16);
  }

  void join_chains() {
    std::vector<int> uses(s_.values.size());
    for (const auto& i : s_.code)
      if (i.kind != Instruction::load && i.kind != Instruction::round)
        for (int f : i.from)
          if (f >= 0) ++uses[f];
    ++uses[s_.result];
    std::vector<Instruction> code;
    for (size_t k = 0; k < s_.code.size();) {
      std::vector<CpuStage::State::Link> links;
      size_t end = k;
      int value = -1;  // that the chain has made so far
      for (; end < s_.code.size(); ++end) {
        const Instruction& i = s_.code[end];
        if (rounds_in_chain(i) && (value < 0 || i.value == value)) {
          links.push_back({-1, i.dtype});
        } else if (is_multiply_adds(i) && (value < 0 || (i.from[0] == value && uses[value] == 1))) {
          links.push_back({i.node, DType::none});
        } else {
          break;
        }
        value = i.value;
      }
      if (links.size() < 2) {
        code.push_back(s_.code[k++]);
        continue;
      }
      Instruction joined = s_.code[k];
      if (joined.kind == Instruction::round) joined.from[0] = joined.value;
      joined.kind = Instruction::chain;
      joined.lane = Lane::f32;
      joined.value = value;
      joined.node = static_cast<int>(s_.chains.size());
      s_.chains.push_back(std::move(links));
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
  for (const auto& i : state_->code) {
    tiles += i.kind == Instruction::tile;
    if (i.kind == Instruction::chain)
      for (const auto& link : state_->chains[i.node]) tiles += link.node >= 0;
  }
  state_->lookup = tiles > 0 && !state_->filters && !state_->warps && !state_->needs_channels && !state_->positional &&
                   !state_->faults && state_->program.inputs.size() == 1 && !state_->decodes &&
                   state_->program.inputs[0].dtype == DType::uint8 &&
                   (tiles > 1 || state_->program.nodes.back().type.dtype == DType::uint8);
}

}  // namespace penstock
