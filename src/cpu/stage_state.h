// SPDX-License-Identifier: Apache-2.0
// The compiled form of a stage, shared by the files that run its parts.
#pragma once
#include <chrono>
#include <functional>
#include <vector>

#include "base/line_vector.h"
#include "codecs/decode_task.h"
#include "cpu/byte_sums.h"
#include "cpu/convert.h"
#include "cpu/filter_rows.h"
#include "cpu/stage.h"
#include "stage/geometry.h"

namespace penstock {

constexpr int kMaxPlanes = static_cast<int>(kMostPlanes);
constexpr int kMaxRegisters = 24;

struct CpuStage::State : StageCode {
  Target target = Target::scalar;
  // Runs of nodes that are all fused multiply-adds in float32, with roundings to unsigned integers between them:
  // computed in registers, in one pass over the tile.
  struct Link {
    int node = -1;  // -1: rounds to the type
    DType dtype = DType::none;
  };
  std::vector<std::vector<Link>> chains;
  int slots = 1;
  bool lookup = false;
  // The filter gives bytes: its result + 0.5, rounded down. So many instructions do that; 0: something else comes
  // first.
  int rounds_up = 0;
  bool words = false;      // the code is a chain from uint16 to uint16
  TileFn dense = nullptr;  // of the only node, if it has a loop over memory for these types (BoundOp::dense_loop)
  std::optional<StageGeometry> geometry;  // where its samples are read and written
};

struct CpuScratch::State {
  std::vector<uint8_t> pixels;      // decoded region
  std::vector<std::byte> coef;      // coefficient blocks of the sample
  std::vector<size_t> coef_offset;  // by node
  std::vector<std::byte> registers;
  LineVector<float> rows, acc;
  std::vector<uint8_t> bytes;  // rows that a decoder made
  RowPlan plan;
  WordPlan words;
  std::vector<uint16_t> word_rows;
  std::vector<int64_t> row_tag;
  TapTable taps[3];
  AxisFilter cached[3];  // the filters that taps[] were made for
  int64_t cached_in[3] = {-1, -1, -1}, cached_begin[3] = {}, cached_step[3] = {}, cached_count[3] = {};
  DType cached_type[3] = {};  // of the source
  std::vector<int32_t> base;  // of a filter: where each output reads
  LineVector<float> pixels_of_row;
  std::vector<std::byte> table;  // look-up table of the chain
  // Memory of the tile program that runs: planes by value, steps of each chain, planes in the input or output.
  std::vector<const void* const*> read;
  std::vector<std::vector<ChainStep>> chains;
  std::vector<std::vector<void*>> alias;
  SampleGeometry geometry;  // of the sample
};

// The data that the runners need for one sample.
struct SampleRun {
  const CpuStage::State& stage;
  const SampleContext& context;
  CpuScratch::State& scratch;
  const Conversions& convert;
  bool cold_output;  // see CpuScratch
  View inputs[4] = {};
  View output = {};
  std::span<const int> out_dim = {};  // iteration dimension -> dimension of the output
  int plane_dim = -1;                 // iteration dimension with the channels
  int in_planes = 1, out_planes = 1;
  Placement* placement = nullptr;
  int64_t origin[Shape::kMaxDims] = {};  // first decoded position per dimension of input 0
  RegionRows* rows = nullptr;            // if set, input 0 has no memory: its rows are made on demand
  bool luma_chroma = false;              // the same rows before color conversion, if that is allowed
  bool blue_first = false;               // luma_chroma is converted to BGR
};

void prepare_coefficients(SampleRun& run, int planes);

// body(run, begin, end) for bands of [0, rows), each of which writes outputs that no other writes: on several threads
// if the output is large and threads have nothing else to do. Each band has scratch memory of its own, with the
// geometry and the coefficients of `run`.
using BandBody = std::function<void(SampleRun& band, int64_t begin, int64_t end)>;
void run_bands(SampleRun& run, int64_t rows, const BandBody& body);

// Where one tile is read and written; the source registers of a filter are filled before.
struct TilePlace {
  const char* in[4];
  int64_t in_step[4];  // elements between neighbors
  int64_t in_plane[4];
  char* out;
  int64_t out_step, out_plane;
  int64_t n;
  int64_t x = 0, y = 0;
  int skip = 0;  // instructions whose result is in the planes of TileProgram::planes_after
};
class TileProgram {
 public:
  TileProgram(SampleRun& run, int64_t tile_n);
  ~TileProgram();
  // Planes of the register that a filter writes before run().
  float* const* source_planes() const { return reinterpret_cast<float* const*>(source_planes_); }
  // Those of the register that instruction `skip` - 1 writes.
  void* const* planes_after(int skip) const { return slot_planes_[run_.stage.code[skip - 1].slot]; }
  void execute(const TilePlace& place);
  int64_t tile_n() const { return tile_n_; }

 private:
  SampleRun& run_;
  int64_t tile_n_;
  int planes_;
  void* slot_planes_[kMaxRegisters][kMaxPlanes];
  void* source_planes_[kMaxPlanes];
  std::vector<const void* const*>& read_;  // the scratch's, which keeps their memory
  bool large_output_ = false;
  std::vector<std::vector<ChainStep>>& chains_;  // the steps of each chain, plane after plane
  std::vector<std::vector<void*>>& alias_;
};
int64_t tile_length(int planes);
// Whether the sample's output leaves the second-level cache before anything reads it.
bool has_large_output(const SampleRun& run);

void run_direct(SampleRun& run);
// Windows that repeat samples, and nearest filters, if values and types do not change: one copy. False for other
// stages.
bool run_picked(SampleRun& run);
void run_filtered(SampleRun& run);
// Bytes that one axis filters with weights of 16 bits, and that become bytes again: sums of integers. False for other
// stages.
bool run_byte_sums(SampleRun& run);
// Means of rectangles of whole bytes. False for other stages.
bool run_whole_area(SampleRun& run);
// Whether an affine stage leaves values and types as they are.
bool only_moves(const SampleRun& run);
// Affine maps that only turn by quarters or mirror: one copy. False for other stages.
bool run_turned(const SampleRun& run);
void run_affine(SampleRun& run);

}  // namespace penstock
