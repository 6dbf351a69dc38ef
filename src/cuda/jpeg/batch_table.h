// SPDX-License-Identifier: Apache-2.0
// The interface between the host, which plans, and the kernels of the JPEG decoder: one table per batch. Words and bits
// are those of the entropy-coded data without stuffing, as big-endian 32-bit words.
#pragma once
#include <cstdint>

namespace penstock::jpeg_gpu {

constexpr uint32_t kTile = 4096;       // stuffed bytes for a block of the unstuffing kernels
constexpr uint32_t kThreads = 256;     // per block, in every kernel
constexpr uint32_t kEntryBits = 1024;  // spacing of entries
constexpr uint32_t kMostEntries = 4;   // per subsequence
constexpr uint32_t kNoMarker = 0xFFFFFFFFu;
constexpr uint32_t kSlackWords = 16;  // after each picture's data
// After the last picture's data: what 64 symbols of up to 31 bits take, and what is read ahead.
constexpr uint32_t kEndWords = 64 + 16;
constexpr uint32_t kSampleSlack = 16;
constexpr uint32_t kStreamBytes = 32 * kThreads;  // of shared memory, for kernels that read streams: own_stream_room()

// Why a picture is left to the CPU. Bits of `flags`.
constexpr uint32_t kMissing = 1, kBadCode = 2, kRanOver = 4, kNoEnd = 8, kUnusualValue = 16, kNotSettled = 32,
                   kBadRestart = 64;

struct Picture {
  uint32_t scan_begin, scan_end;  // bytes in the uploaded files; the end may be after the end marker
  uint32_t word_base;             // its first word
  uint32_t tile_base, tiles;
  uint32_t sub_base, subs;  // upper limit of its subsequences; `entries_per_sub` entries each
  uint32_t sync_base, sync_blocks;
  uint32_t table_set;
  uint32_t selectors;     // 2 bits per block of the MCU: its DC and AC table
  uint32_t component_of;  // 2 bits per block of the MCU
  uint32_t mcu_blocks;
  uint32_t sync_mcu_blocks;  // 1 if all components share tables: their phase cannot be determined
  uint32_t blocks;           // of the whole picture, in the order of the scan
  uint32_t stored_base;      // first of the blocks of the region
  uint32_t width, height, mcu_columns, mcu_rows;
  uint32_t components, h, v;                              // sampling of the first component; the others have 1
  uint32_t planes;                                        // number of components to decode
  uint32_t column_begin, row_begin, column_end, row_end;  // MCUs that the region needs
  uint32_t segments;                                      // between restart markers; 1: none
  uint32_t segment_blocks;                                // of all segments but the last
  uint32_t segment_base;
  uint32_t plane[3];  // byte offsets in the samples; a row of a plane has 8 * columns * h (or 1) samples
  uint32_t x, y, region_width, region_height;  // stored pixels to write
  uint32_t channels, bgr, dense;               // dense: contiguous rows as stored, no orientation
  uint32_t lanes;                              // lanes of a warp that share a row of pixels: a power of two
  uint64_t out;                                // address of stored pixel (x, y)
  int64_t row_step, pixel_step;                // bytes
  alignas(16) uint16_t quant[3][64];           // columns first
};

// A position where decoding can start. DC values are the predictors there.
struct alignas(16) Entry {
  uint32_t bit, block;
  int16_t dc[3];
  uint16_t blocks;
};
struct Item {  // a tile, or a block of sync threads, of a picture
  uint32_t picture, index;
};
struct DecodeItem {  // entries [first, first + count)
  uint32_t picture, first, count;
};

// Huffman tables as in the files: DC 0, DC 1, AC 0, AC 1. counts[t][l - 1]: codes of l bits.
struct TableSpec {
  uint8_t counts[4][16];
  uint8_t values[4][256];
};

// Look-ups by the next bits of the stream: for each table one for each value of kScanBits or kLookBits bits, then
// kLongLookups for prefixes of the longer codes of any table of the set.
constexpr uint32_t kLongLookups = 512;
constexpr uint32_t kScanBits = 11, kScanTable = (1u << kScanBits) + kLongLookups;
constexpr uint32_t kLookBits = 10, kLookTable = (1u << kLookBits) + kLongLookups;
// Canonical codes, left-aligned in 16 bits.
struct LongCodes {
  uint32_t limit[17];   // codes of l bits are below limit[l]
  uint32_t delta[17];   // from code to index of the symbol
  uint32_t values[64];  // four per word
};
// The start of the long look-ups' range (32 bits of the stream as a number), and the right shift of the difference that
// gives their index.
struct LongRange {
  uint32_t from, shift;
};
struct alignas(16) TableSet {
  uint32_t scan[4 * kScanTable];
  uint16_t decode[4 * kLookTable];
  LongCodes codes[4];
  LongRange scan_long, decode_long;
};

struct BatchTable {
  uint32_t pictures, table_sets, tiles;
  uint32_t sub_bits, guess_bits, warm_subs, entries_per_sub, words_end;
  uint32_t rounds_alone, spread_below;  // see settle()
  uint32_t turns;                       // per thread: blocks to transform, pairs of rows to write
  const uint8_t* files;
  const Picture* picture;
  const TableSpec* specs;
  const Item *tile, *sync;
  const DecodeItem* decode;
  const uint32_t *first_transform, *first_color;  // of each picture, among the blocks of these launches
  uint32_t *marker, *bits, *flags;                // of each picture
  TableSet* tables;
  uint32_t *words, *tile_kept, *tile_restarts;
  uint32_t *segment_end, *segment_bytes, *segment_sub;  // bytes up to its end, its own; first subsequence
  uint32_t* sub_segment;
  uint32_t *sub_state, *sub_record, *incoming;
  Entry* entry;
  int32_t* dc_sum;  // 4 per entry
  uint32_t* block_entry;
  int16_t* coefficients;
  uint8_t* samples;
  uint32_t sample_bytes;  // of all planes; kSampleSlack after them may be read
  uint32_t* statistics;   // null, or counters for measurements
};

}  // namespace penstock::jpeg_gpu
