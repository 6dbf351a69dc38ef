// SPDX-License-Identifier: Apache-2.0
// What the CPU adds to the code of a stage: chains of multiply-adds become one instruction, values get registers.
#include <algorithm>

#include "cpu/stage_state.h"

namespace penstock {

namespace {

class Registers {
 public:
  explicit Registers(CpuStage::State& s) : s_(s) {}
  void assign() {
    leave_out_casts();
    join_chains();
    assign_slots();
  }
  // Only multiply-adds of one input, and roundings.
  bool has_only_multiply_adds() const {
    return std::ranges::all_of(s_.code, [&](const Instruction& i) {
      return i.kind == Instruction::load || i.kind == Instruction::round || i.kind == Instruction::chain ||
             is_multiply_adds(i);
    });
  }

 private:
  CpuStage::State& s_;

  // A cast in one compute type makes a copy, which only a rounding in place needs.
  void leave_out_casts() {
    for (size_t k = 0; k < s_.code.size();) {
      const Instruction cast = s_.code[k];
      const auto rounds = [&](const Instruction& i) {
        return i.kind == Instruction::round && (i.value == cast.value || i.value == cast.from[0]);
      };
      if (cast.kind != Instruction::tile || !s_.traits[cast.node].keeps_values || cast.from[0] < 0 ||
          std::ranges::any_of(s_.code, rounds)) {
        ++k;
        continue;
      }
      s_.code.erase(s_.code.begin() + static_cast<std::ptrdiff_t>(k));
      for (Instruction& i : s_.code)
        if (i.kind != Instruction::load)
          for (int& f : i.from)
            if (f == cast.value) f = cast.from[0];
      if (s_.result == cast.value) s_.result = cast.from[0];
    }
  }

  // Whether the instruction consists of fused multiply-adds. That must not depend on the coefficients, so zeros serve
  // as well as any.
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

  // Whether the stage is one node from uint16 to uint16: then also a chain of one link saves two passes.
  bool between_words() const {
    const auto& p = s_.program;
    return s_.source < 0 && p.nodes.size() == 1 && p.inputs.size() == 1 && p.inputs[0].dtype == DType::uint16 &&
           p.nodes[0].type.dtype == DType::uint16;
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
      int value = -1;  // the result of the chain so far
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
      if (links.size() < (between_words() ? 1 : 2)) {
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
    const auto is = [&](size_t k, Instruction::Kind kind) { return s_.code[k].kind == kind; };
    s_.words = between_words() && s_.code.size() == 2 && is(0, Instruction::load) && is(1, Instruction::chain);
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
      // Compute types differ in width, so a conversion cannot be done in place.
      const bool in_place = i.kind != Instruction::convert;
      if (in_place) release();
      if (s_.values[i.value].slot < 0) s_.values[i.value].slot = take();
      if (!in_place) release();
      i.slot = s_.values[i.value].slot;
    }
    s_.slots = std::max(1, used);
  }
};

// How many instructions round what the filter made to bytes, halves up: + a number (whose value is known when samples
// are), floor, and a conversion to uint8.
int rounding_up(const CpuStage::State& s) {
  const auto& code = s.code;
  if (s.source < 0 || s.warps || s.values[s.source].lane != Lane::f32 || code.size() < 2) return 0;
  int value = s.source;
  const auto computes = [&](const Instruction& i, const char* name) {
    const bool found = i.kind == Instruction::tile && i.lane == Lane::f32 && i.from[0] == value && i.from[1] < 0 &&
                       s.program.nodes[i.node].op->info->name == name;
    value = i.value;
    return found;
  };
  if (!computes(code[0], "_add") || !computes(code[1], "_math.floor")) return 0;
  size_t k = 2;
  const auto copies = [&](const Instruction& i) {
    return i.lane == Lane::f32 && i.from[0] == value &&
           (i.kind == Instruction::convert || (i.kind == Instruction::tile && s.traits[i.node].keeps_values));
  };
  for (; k < code.size() && copies(code[k]); ++k) value = code[k].value;
  const auto reads = [&](const Instruction& i) { return std::ranges::find(i.from, value) != std::end(i.from); };
  if (k == code.size()) return type_of(s.program, s.program.outputs[0]).dtype == DType::uint8 ? static_cast<int>(k) : 0;
  const Instruction& next = code[k];
  const bool rounds = next.kind == Instruction::round && next.value == value && next.dtype == DType::uint8;
  if (rounds) return static_cast<int>(k + 1);
  if (next.kind != Instruction::chain || !reads(next)) return 0;
  const auto& first = s.chains[next.node].front();
  return first.node < 0 && first.dtype == DType::uint8 ? static_cast<int>(k) : 0;
}

// The loop over memory of a stage that is one pixel function whose operands have one type.
TileFn dense_loop_of(const CpuStage::State& s) {
  const auto& p = s.program;
  const StageTraits& t = s.traits[0];
  if (p.nodes.size() != 1 || !t.pixels || t.decodes || t.maps || t.mixes_channels || t.per_channel || t.positional)
    return nullptr;
  const DType type = p.inputs[p.nodes[0].operands[0]].dtype;
  const auto of_type = [&](int operand) { return p.inputs[operand].dtype == type; };
  return std::ranges::all_of(p.nodes[0].operands, of_type) ? p.nodes[0].op->dense_loop(s.target, type) : nullptr;
}

}  // namespace

CpuStage::CpuStage(StageProgram program, Target target) : state_(std::make_unique<State>()) {
  compile_stage(std::move(program), *state_);
  state_->target = target;
  constexpr int64_t kFewChannels = 16;
  state_->geometry.emplace(*state_, PlaneRule{kMostPlanes, kFewChannels, false});
  Registers registers(*state_);
  registers.assign();
  state_->rounds_up = rounding_up(*state_);
  if (!state_->traits.empty()) state_->dense = dense_loop_of(*state_);
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
  // Without permutations of bytes, a vector of multiply-adds takes less time than as many reads of a table.
  if (target == Target::avx2 && registers.has_only_multiply_adds()) state_->lookup = false;
}

}  // namespace penstock
