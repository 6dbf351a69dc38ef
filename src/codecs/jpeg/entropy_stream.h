// SPDX-License-Identifier: Apache-2.0
// Decodes one stream of entropy-coded data: blocks of coefficients, in order, into the planes of a region.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codecs/jpeg/entropy_index.h"
#include "codecs/jpeg/huffman_tables.h"
#include "codecs/jpeg/kernels.h"
#include "codecs/jpeg/scan_bytes.h"
#include "codecs/jpeg/scan_header.h"

namespace penstock::jpeg {

constexpr int kMostBlocks = 6;  // in a group of MCUs that is transformed at once

// What the streams of one image share: which MCUs are wanted, and where their samples go.
struct RegionPlan {
  const ScanHeader* header = nullptr;
  const Kernels* kernels = nullptr;
  int column_begin = 0, column_end = 0, row_begin = 0, row_end = 0;  // MCUs
  bool dc_only = false;                                              // at 1/8 of the size nothing else is needed
  bool fast_tables = false;  // all blocks have tables of two coefficients and for skipping
  int group = 1;             // MCUs with few blocks are taken several at a time, so that the transform gets its pairs
  struct Block {
    int component = 0;
    const DcTable* dc = nullptr;
    const AcTable* ac = nullptr;
    uint8_t* to = nullptr;  // in MCU (column_begin, row_begin)
    ptrdiff_t stride = 0, column_step = 0, row_step = 0;
  } block[kMostBlocks];  // of one MCU
  struct Pair {
    InverseDctPair transform = nullptr;
    alignas(32) int16_t quant[128];
  } pair[kMostBlocks / 2];  // of blocks of a group
};

// The bit reader between two runs of the loop. The next bits are at the top of `bits`. Their number is only in the low
// 6 bits of `count`, so that a whole entry of a table can be subtracted.
struct BitState {
  uint64_t bits = 0, count = 0;
  const uint8_t* at = nullptr;
  void start(const uint8_t* from, uint32_t skip);
  int64_t position(const uint8_t* from) const { return (at - from) * 8 - static_cast<int64_t>(count & 63); }
};

// Where an MCU begins in a scan.
struct McuStart {
  int64_t bit = 0;  // of ScanBytes
  int32_t dc[3] = {0, 0, 0};
  bool operator==(const McuStart&) const = default;
};

// What the loop needs to know about a block.
struct BlockSlot {
  const DcTable* dc = nullptr;    // nullptr: the mark after the last block of a group
  const void* entries = nullptr;  // those of `ac` that the loop reads
  int32_t* predictor = nullptr;
  int16_t* coefficients = nullptr;
  const AcTable* ac = nullptr;
};

class EntropyStream {
 public:
  // Points of an index that is being made; bits count in the bytes of `scan`.
  struct Record {
    int step = 0;
    std::vector<EntropyPoint>* points = nullptr;
    bool usable = true;
    // `more`: what the predictors lack.
    void add(const McuStart& at, const int32_t (&more)[3], int components);
  };

  // Decodes the wanted MCUs of rows [first_row, end_row) from a whole scan. Restart markers let it skip unwanted ones.
  // With `record` the whole scan is decoded, and only the wanted MCUs are transformed.
  bool begin(const RegionPlan& plan, const ScanBytes& scan, int first_row, int end_row, Record* record);
  // The same from the points of an index, row by row. `coded`: the file's entropy-coded bytes.
  bool begin(const RegionPlan& plan, const EntropyIndex& index, Bytes coded, int first_row, int end_row);

  // A part of a scan without restart markers, from the beginning of an MCU, or from where one is believed to begin.
  struct Span {
    McuStart start;
    int64_t mcu = 0, mcus = 0;  // the first one, where it is known, and how many there may be
    int64_t stop = 0;           // a bit: so many MCUs after those that begin before it, the span ends
    int overrun = 0;
    int16_t* kept = nullptr;  // gets the coefficients; null: they are transformed to wanted samples
    std::vector<McuStart>*
        notes;  // gets the position before each MCU, with predictors that count from `start`; or null
  };
  bool begin(const RegionPlan& plan, const ScanBytes& scan, const Span& span);
  bool go_on(int64_t mcus);  // after an end without an error
  McuStart position() const;
  int64_t done() const { return done_; }  // MCUs that are complete

  bool failed() const { return failed_; }
  // Whether all wanted MCUs are decoded; true in spite of an error after them.
  bool delivered() const { return !failed_ || delivered_all_; }
  void shrink(size_t most) { own_.shrink(most); }

  // For the loop: state at a look-up.
  BitState bits;
  uint64_t place = 0;  // of the last coefficient
  const BlockSlot* slot = slots_;
  bool running() const { return running_; }
  bool fast() const { return plan_->fast_tables; }
  bool skipping() const { return skipping_; }  // of this group only the DC coefficients are needed
  // All blocks of a group are decoded: removes them and prepares the next group. False: the end.
  bool finish_group();
  // Invalid data: ends the stream.
  void fail() { failed_ = true, running_ = false; }

 private:
  bool begin_stream(const RegionPlan& plan, int first_row, int end_row);
  bool start_run();
  bool start_row_of_index();
  bool start_in_scan(int64_t mcu, int64_t end);
  bool end_run();
  bool ran_over() const;
  bool is_at_segment_end() const;
  bool next_segment();
  bool start_group();
  void deliver();
  void note_point();

  const RegionPlan* plan_ = nullptr;
  const ScanBytes* scan_ = nullptr;  // the reader is in it
  size_t segment_ = 0;               // of scan_
  int group_ = 0;                    // MCUs in the current group
  int column_ = 0, row_ = 0;         // of its first MCU
  int64_t left_ = 0;                 // MCUs until the run ends
  int64_t until_restart_ = 0;
  int64_t done_ = 0, stop_ = 0;  // of a span
  int overrun_ = 0;
  int16_t* kept_ = nullptr;
  int first_row_ = 0, end_row_ = 0;  // rows to deliver
  int target_row_ = 0;               // the row that the run is for
  bool failed_ = false, delivered_all_ = false, running_ = false, wanted_ = false, skipping_ = false;
  Record* record_ = nullptr;
  std::vector<McuStart>* notes_ = nullptr;
  // With an index.
  const EntropyIndex* index_ = nullptr;
  Bytes coded_;
  size_t taken_ = 0;                        // bytes of coded_ that earlier rows used
  const EntropyPoint* expected_ = nullptr;  // where the run must end
  int64_t expected_bit_ = 0;
  ScanBytes own_;

  int32_t predictor_[3] = {};
  int slots_set_ = 0;  // blocks that slots_ is set up for, and
  bool slots_skip_ = false;
  BlockSlot slots_[kMostBlocks + 1];
  // One block more than is decoded: the partner of an odd last one, and the slot after the last block.
  alignas(64) int16_t coefficients_[64 * (kMostBlocks + 1) + 64];
};

// Transforms the coefficients of `group` MCUs of a row to samples, and sets them to zero. Needs a block of zeros after
// an odd number of blocks.
void transform_group(const RegionPlan& plan, int16_t* coefficients, int row, int column, int group);

}  // namespace penstock::jpeg
