// SPDX-License-Identifier: Apache-2.0
// A stage as a list of instructions over registers: which conversions, roundings and pixel functions, in which order.
// The CPU and the GPU both run this list, so that they agree on each rounding.
#pragma once
#include <vector>

#include "stage/program.h"

namespace penstock {

constexpr int kMaxStageInputs = 4;

struct Instruction {
  enum Kind : uint8_t { load, tile, chain, round, convert } kind = tile;
  int value = 0;                          // written; for load also the input
  int node = -1;                          // tile: index into nodes; chain: into State::chains
  int from[kMaxOperands] = {-1, -1, -1};  // values read
  int slot = 0;                           // register written
  Lane lane = Lane::f32, from_lane = Lane::f32;
  DType dtype = DType::none;  // load, round
};

// A value of the compiled program: an edge in one compute type.
struct CompiledValue {
  Lane lane = Lane::f32;
  int slot = -1;
};

struct StageCode {
  StageProgram program;
  std::vector<StageTraits> traits;  // by node
  std::vector<Instruction> code;
  std::vector<CompiledValue> values;
  int result = -1;  // compiled value that is stored
  int source = -1;  // compiled value that the filter or warp writes; -1: inputs are loaded
  bool decodes = false, maps = false, filters = false, warps = false;
  bool needs_channels = false, positional = false, faults = false, only_copies = false;
  bool reads_frames = false;        // the first node is a whole operator whose result is read pixel by pixel
  bool has_frames = false;          // an argument has one value for each frame
  bool source_stays_bytes = false;  // the source is made of uint8, and its first use converts it to uint8 again
};

void compile_stage(StageProgram program, StageCode& code);

// A compute type that holds all values of the type exactly.
Lane natural_lane(DType t);
// For all values of one sample, the inputs first.
std::vector<Shape> value_shapes(const StageProgram& program, const SampleContext& s, std::span<const Shape> in);

}  // namespace penstock
