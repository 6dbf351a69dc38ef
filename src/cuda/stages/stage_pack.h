// SPDX-License-Identifier: Apache-2.0
// The one block of memory that a launch reads: entries, where each entry's blocks begin, coefficients, fills, taps. It
// is written where the device copies it from.
#pragma once
#include <cstring>
#include <memory>
#include <span>

#include "batch/batch.h"
#include "cuda/stages/stage_sample.h"

namespace penstock {

// A block of a memory resource that grows; offsets stay, addresses do not.
class TableWriter {
 public:
  // `block`: of that capacity, where there is one; then it grows in `memory`, null: default_memory().
  TableWriter(std::shared_ptr<MemoryResource> memory, StreamHandle stream, size_t capacity,
              std::shared_ptr<void> block = nullptr);
  int64_t room(size_t n) {  // at a multiple of 16 bytes; those in front are 0
    const size_t end = size_, at = (end + 15) / 16 * 16;
    size_ = at + n;
    if (size_ > capacity_) grow();
    if (at > end) std::memset(data_ + end, 0, at - end);
    return static_cast<int64_t>(at);
  }
  int64_t append(const void* data, size_t n) {
    const int64_t at = room(n);
    if (n) std::memcpy(data_ + at, data, n);
    return at;
  }
  // The same, or where the block that `last` names has these bytes already.
  struct Block {
    int64_t at = -1;
    size_t bytes = 0;
  };
  int64_t append_once(Block& last, const void* data, size_t n) {
    if (last.at < 0 || last.bytes != n || std::memcmp(data_ + last.at, data, n) != 0) last = {append(data, n), n};
    return last.at;
  }
  void cut(int64_t size) { size_ = static_cast<size_t>(size); }
  std::byte* at(int64_t offset) { return data_ + offset; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  const std::shared_ptr<void>& block() const { return block_; }

 private:
  void grow();
  std::shared_ptr<MemoryResource> memory_;
  StreamHandle stream_;
  size_t size_ = 0, capacity_;
  std::shared_ptr<void> block_;
  std::byte* data_;
};

struct PackCall {
  std::span<const StageEntry> entries;
  const StageRun* run = nullptr;  // all of the batch, in place of entries; then also:
  std::span<const Batch> inputs;
  const Batch* output = nullptr;
  int32_t* faults = nullptr;  // the device's flags, one int32 a sample; null where the stage has none
  int multiprocessors = 1;
  std::span<SampleContext> contexts;   // of all samples; none where they are `constant`. `draws` is set as it goes
  std::span<const float> windows;      // of entries that have their own
  const AlikeSample* alike = nullptr;  // the same
  bool constant = false;               // coefficients and fills are the same for all samples
};
struct PackedTable {
  int64_t blocks = 0;
  size_t shared_bytes = 0;
  // What cuda/stages/fold_arguments.h needs: their number, and where the block begins.
  int64_t fold_rows = 0, fold_at = 0;
};
// Whether all samples may have one row (StageVariant::one_row): those of a run that lie evenly.
bool can_share_row(const StageCode& code, const StageVariant& v, const PackCall& call);
PackedTable pack_table(const StageCode& code, const StageVariant& v, const PackCall& call, TableWriter& table);

}  // namespace penstock
