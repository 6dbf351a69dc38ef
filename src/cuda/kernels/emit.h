// SPDX-License-Identifier: Apache-2.0
// From a stage's code to the text of one kernel.
#pragma once
#include <string>

#include "cuda/kernels/pixel_row_sizes.h"
#include "cuda/kernels/stage_row.h"
#include "cuda/kernels/strip_sizes.h"
#include "cuda/kernels/tile_sizes.h"
#include "cuda/kernels/warp_shape.h"
#include "stage/code.h"

namespace penstock {

// What a text is specialized on beside the stage's code. The numbers of a call (extents, strides, taps, coefficients)
// are in the table: ragged and uniform batches run the same kernel.
struct StageVariant {
  enum class Kind : uint8_t {
    elements,   // one dense row: many elements a thread
    positions,  // loops over dimensions, one position (all its planes) a thread
    filtered,   // the same behind taps
    warped,     // the same behind an affine map
    tiled,      // height and width behind taps: a block makes a tile, taps and filtered rows in shared memory
  };
  Kind kind = Kind::positions;
  int dims = 1;
  uint32_t filtered = 0;  // bit d: dimension d has taps
  int vertical = -1;      // the filtered dimension whose outer taps of weight zero are left out, as the CPU does
  int planes = 1, out_planes = 1;
  int warp_x = -1, warp_y = -1, warp_z = -1;  // dimensions that an affine map gives
  bool has_plane = false;                     // the channels are a dimension of their own
  bool fills = false;
  bool picks_planes = false;
  bool wide = false;   // positions or offsets of 2^31 and more
  bool table = false;  // through a table of 256 results, for each plane
  // Kind tiled: how samples of the source come to the sum; the FilterKinds of all samples, -1: they differ; taps of a
  // window.
  enum class Path : uint8_t {
    indexed,    // every output is one sample
    direct,     // at most two taps each way
    shared,     // filtered rows in shared memory
    resampled,  // bytes whose planes lie side by side: the same, each warp its own
    window,     // the same, by convolutions whose size is known
    sliding,    // bytes, by convolutions of few taps: sums in registers
    streaming,  // the same where results are bytes again, in the range of the source's: a lane takes any of them
  } path = Path::indexed;
  bool resamples_bytes = false;  // path `resampled` would do, too
  int filter_x = -1, filter_y = -1;
  int window_x = 0, window_y = 0;
  bool by_value = false;  // the table is the kernel's parameter: Launch::by_value
  bool one_row = false;   // of the table, for all samples: they differ in what grows evenly (TableHeader)
  bool generic = false;   // of a table that the generic kernel reads (cuda/stages/generic_stage.h)
  bool averages = false;  // what the filters of a tiled kernel make of bytes is within their range, to less than a half
  bool narrow_source = false;  // what a filter makes is a float32 in registers
  bool pixel_rows = false;     // kind positions: pixels of three bytes to pixels of bytes, in rows (pixel_rows.h)
  bool moved_rows = false;     // kind positions: pixels of wide elements that are only moved (moved_rows.h)
  bool reverses = false;       // of pixel_rows, a stage that only reverses the channels
  bool nearest = false;        // kind warped: outputs are samples
  bool boxes = false;          // kind warped: bytes to bytes, and what a tile reads has room in shared memory
  auto operator<=>(const StageVariant&) const = default;
};

// The parts of a row in the table of this variant's kernel.
RowLayout row_layout(const StageCode& code, const StageVariant& v);
static_assert(kMostInputs == kMaxStageInputs);

// Of its elements in memory: of a decoding stage the first input is the pixels.
DType input_dtype(const StageCode& code, int input);

constexpr const char* kStageEntry = "stage";
constexpr int kStageThreads = 256;
// Positions of the innermost dimension that a thread takes at once: work is counted in them.
int group_positions(const StageCode& code, const StageVariant& v);
// Whether an affine map goes the fast way: it is one of images (image_warp.h).
bool warps_image(const StageCode& code, const StageVariant& v);
// Shared memory of a block where pixels are words: warp_shape.h.
constexpr size_t kBoxBytes =
    kBoxTile * 16 + (kBoxPitch * kBoxRows + kStageThreads / 32 * 4 * kExchangePitch) * size_t{4};
// Of one multiprocessor at least: fewer than two blocks are slower than none.
constexpr size_t kBoxesMostShared = 96 * 1024;
constexpr int64_t kMostBoxTiles = int64_t{1} << 22;  // of a sample: what a float32 divides exactly
// What a block takes is a multiple of this: elements, or groups of positions.
int64_t work_granule(const StageCode& code, const StageVariant& v);
std::string emit_stage(const StageCode& code, const StageVariant& v);
size_t shared_bytes(const StageCode& code,
                    const StageVariant& v);  // but for tiled kernels: those depend on the samples

}  // namespace penstock
