// SPDX-License-Identifier: Apache-2.0
#include "stage/code.h"

#include <algorithm>
#include <map>

#include "operator/pixel_source.h"

namespace penstock {

namespace {

// The element type of the registers of a lane.
DType number_type(Lane l) {
  switch (l) {
    case Lane::f64: return DType::float64;
    case Lane::i32: return DType::int32;
    case Lane::i64: return DType::int64;
    case Lane::u64: return DType::uint64;
    default: return DType::float32;
  }
}

// Turns the nodes into a list of instructions over compiled values.
class Compiler {
 public:
  explicit Compiler(StageCode& s) : s_(s) {}

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
    s_.only_copies =
        s_.source < 0 && types_[out].dtype == input_dtype() &&
        std::all_of(s_.code.begin(), s_.code.end(), [](const Instruction& i) { return i.kind == Instruction::load; });
    s_.source_stays_bytes = s_.source >= 0 && s_.values[s_.source].lane == Lane::f32 && input_dtype() == DType::uint8 &&
                            stays_bytes(types_[out].dtype);
  }

 private:
  StageCode& s_;
  std::vector<ValueType> types_;
  std::vector<std::map<Lane, int>> by_lane_;  // value -> compiled value in a lane
  std::vector<int> home_;                     // value of a node -> its compiled value that is not a converted copy

  std::vector<int> alias_;  // value -> the value that it equals, -1: none. Integer maps only move values

  bool stays_bytes(DType out) const {
    if (s_.code.empty()) return s_.result == s_.source && out == DType::uint8;
    const Instruction& i = s_.code.front();
    return i.kind == Instruction::round && i.value == s_.source && i.dtype == DType::uint8;
  }

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
    if (t == number_type(s_.values[compiled].lane)) return;
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

  // The value converted to another type as `cast` does: in the compute type that holds it, then in the requested one.
  int cast_in(int value, DType t, Lane lane) {
    if (types_[value].dtype == t) return value_in(value, lane);
    const int from = origin(value);
    const Lane own = by_lane_[from].empty() ? natural_lane(types_[from].dtype) : by_lane_[from].begin()->first;
    Instruction c;  // a copy, so that the value does not change
    c.kind = Instruction::convert;
    c.from[0] = value_in(from, own);
    c.from_lane = c.lane = own;
    c.value = new_value(own);
    s_.code.push_back(c);
    round(c.value, t);
    if (own == lane) return c.value;
    Instruction to = c;
    to.from[0] = c.value, to.lane = lane, to.value = new_value(lane);
    s_.code.push_back(to);
    return to.value;
  }

  // Where an operator of three operands computes in all types, the first one is a condition: whether it is not 0, even
  // if the compute type cannot hold it. Others are arithmetic in float32.
  int operand_in(int value, size_t k, size_t operands, bool all_types, DType result, Lane lane) {
    if (operands == 3 && all_types && k == 0) return cast_in(value, DType::bool_, lane);
    if (operands == 3 && types_[value].dtype == DType::uint64 && lane == Lane::i64) return cast_in(value, result, lane);
    return value_in(value, lane);
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
    const bool is_frames = index == 0 && pixel_source(*node.op) != nullptr;
    if (is_frames) s_.reads_frames = true, types_[0] = node.type;
    s_.maps |= t.maps || t.decodes || is_frames;
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
    } else if (!t.pixels) {  // an integer map: the same values, possibly as another type
      if (t.decodes || is_frames || node.type.dtype == types_[first].dtype) {
        alias_[value] = first;
      } else {
        const int from = origin(first);
        auto& known = by_lane_[from];
        const Lane natural = natural_lane(types_[from].dtype);
        // Integers come from the compute type that holds the operand exactly; a float64 would lose bits of 64-bit ones.
        const Lane lane = !known.empty() ? known.begin()->first
                          : !is_float(node.type.dtype) || natural_lane(node.type.dtype) == natural ? natural
                                                                                                   : Lane::f64;
        Instruction c;  // its own copy, so that rounding does not change the operand
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
      if (!node.op->tile(Target::scalar, lane))
        fail(ErrorKind::internal, "{} has no pixel function for its lane", node.op->info->name);
      Instruction i;
      i.kind = Instruction::tile;
      i.node = index;
      i.lane = lane;
      if (s_.source >= 0 && by_lane_[value].size()) {  // this node has already filtered
        i.from[0] = home_[value];
        by_lane_[value].clear();
      } else {
        const bool all_types = t.operands == 3 && node.op->coef_bytes(Lane::i32) > 0;
        for (size_t k = 0; k < node.operands.size(); ++k)
          i.from[k] =
              operand_in(node.operands[k], k, static_cast<size_t>(t.operands), all_types, node.type.dtype, lane);
      }
      i.value = new_value(lane);
      s_.code.push_back(i);
      settle(value, i.value, node.type.dtype);
    }
  }
};

}  // namespace

Lane natural_lane(DType t) {
  switch (t) {
    case DType::float64: return Lane::f64;
    case DType::uint64: return Lane::u64;
    case DType::int32:
    case DType::uint32:
    case DType::int64: return Lane::i64;
    default: return Lane::f32;
  }
}

void compile_stage(StageProgram program, StageCode& code) {
  if (program.inputs.size() > kMaxStageInputs) fail(ErrorKind::internal, "a stage has at most four inputs");
  code.program = std::move(program);
  Compiler(code).compile();
}

std::vector<Shape> value_shapes(const StageProgram& p, const SampleContext& s, std::span<const Shape> in) {
  std::vector<Shape> shapes;
  shapes.reserve(in.size() + p.nodes.size());
  shapes.assign(in.begin(), in.end());
  for (const auto& node : p.nodes) {
    FixedVector<Shape, kMaxStageInputs> operand_shapes;
    FixedVector<ValueType, kMaxStageInputs> operand_types;
    for (int o : node.operands) operand_shapes.push_back(shapes[o]), operand_types.push_back(type_of(p, o));
    SampleContext c = s;
    c.draws = node.draws;
    Shape result;
    as_operator(*node.op, [&] { node.op->shapes(c, operand_shapes, operand_types, std::span(&result, 1)); });
    shapes.push_back(result);
  }
  return shapes;
}

}  // namespace penstock
