// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/entropy_stream.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace penstock::jpeg {

namespace {
constexpr int64_t kNever = int64_t{1} << 62;
// libjpeg-turbo refuses predictors that exceed 32 bits. A row of MCUs adds less than 2^27.
constexpr int32_t kLargestPredictor = 1 << 29;
constexpr int32_t kLargestKept = 1 << 20;  // of coefficients whose place is not known: so the sum is below the other
}  // namespace

void BitState::start(const uint8_t* from, uint32_t skip) {
  uint64_t next;
  std::memcpy(&next, from, 8);
  if constexpr (std::endian::native == std::endian::little) next = __builtin_bswap64(next);
  bits = next << skip;
  at = from + 7;
  count = 56 - skip;
}

bool EntropyStream::begin_stream(const RegionPlan& plan, int first_row, int end_row) {
  plan_ = &plan;
  first_row_ = first_row, end_row_ = end_row;
  failed_ = delivered_all_ = false;
  running_ = first_row < end_row;
  place = 0;
  slots_set_ = 0;
  skipping_ = false;
  expected_ = nullptr;
  notes_ = nullptr, kept_ = nullptr;
  done_ = 0, stop_ = kNever;
  std::memset(coefficients_, 0, sizeof coefficients_);
  return running_;
}

bool EntropyStream::begin(const RegionPlan& plan, const ScanBytes& scan, int first_row, int end_row, Record* record) {
  index_ = nullptr;
  record_ = record;
  scan_ = &scan;
  if (!begin_stream(plan, first_row, end_row)) return false;
  const ScanHeader& h = *plan.header;
  target_row_ = first_row;
  column_ = row_ = 0;
  if (record) return start_in_scan(0, h.mcus());
  if (!h.restart_interval) return start_in_scan(0, (int64_t{end_row} - 1) * h.mcu_columns + plan.column_end);
  left_ = until_restart_ = 0;
  segment_ = 0;
  row_ = -1;  // nothing is decoded yet
  return start_run();
}

bool EntropyStream::begin(const RegionPlan& plan, const EntropyIndex& index, Bytes coded, int first_row, int end_row) {
  index_ = &index;
  coded_ = coded;
  record_ = nullptr;
  scan_ = &own_;
  taken_ = 0;
  if (!begin_stream(plan, first_row, end_row)) return false;
  target_row_ = first_row;
  return start_run();
}

bool EntropyStream::begin(const RegionPlan& plan, const ScanBytes& scan, const Span& span) {
  index_ = nullptr;
  record_ = nullptr;
  scan_ = &scan;
  begin_stream(plan, plan.row_begin, plan.row_end);
  notes_ = span.notes, kept_ = span.kept;
  left_ = span.mcus, stop_ = span.stop, overrun_ = span.overrun;
  segment_ = 0;
  row_ = static_cast<int>(span.mcu / plan.header->mcu_columns);
  column_ = static_cast<int>(span.mcu % plan.header->mcu_columns);
  until_restart_ = kNever;
  std::copy_n(span.start.dc, 3, predictor_);
  bits.start(scan.data() + span.start.bit / 8, static_cast<uint32_t>(span.start.bit % 8));
  return start_group();
}

bool EntropyStream::go_on(int64_t mcus) {
  left_ = mcus;
  running_ = true;
  return start_group();
}

McuStart EntropyStream::position() const {
  McuStart at;
  at.bit = bits.position(scan_->data());
  std::copy_n(predictor_, 3, at.dc);
  return at;
}

// The next run of MCUs without a jump, for target_row_.
bool EntropyStream::start_run() {
  if (index_) return start_row_of_index();
  const ScanHeader& h = *plan_->header;
  const int64_t wanted = int64_t{target_row_} * h.mcu_columns + plan_->column_begin;
  const int64_t end = int64_t{target_row_} * h.mcu_columns + plan_->column_end;
  const int64_t entry = wanted / h.restart_interval * h.restart_interval;
  const int64_t now = row_ < 0 ? -1 : int64_t{row_} * h.mcu_columns + column_;
  if (entry > now) return start_in_scan(entry, end);
  left_ = end - now;
  if (until_restart_ == 0 && !next_segment()) return false;
  return start_group();
}

// Starts at MCU `mcu`, which is 0 or the first of a restart segment.
bool EntropyStream::start_in_scan(int64_t mcu, int64_t end) {
  const ScanHeader& h = *plan_->header;
  segment_ = h.restart_interval ? mcu / h.restart_interval : 0;
  if (segment_ > scan_->segment_ends.size()) return fail(), false;
  row_ = mcu / h.mcu_columns;
  column_ = mcu % h.mcu_columns;
  left_ = end - mcu;
  until_restart_ = h.restart_interval ? h.restart_interval : kNever;
  std::fill_n(predictor_, 3, 0);
  bits.start(scan_->data() + (segment_ ? scan_->segment_ends[segment_ - 1] : 0), 0);
  return start_group();
}

// Nothing in the index is trusted: offsets must be inside the file and never go back, which also bounds the work.
bool EntropyStream::start_row_of_index() {
  const ScanHeader& h = *plan_->header;
  const EntropyIndex& ix = *index_;
  const int step = ix.step, at = plan_->column_begin / step;
  const size_t row = static_cast<size_t>(target_row_) * ix.columns;
  const EntropyPoint& point = ix.points[row + at];
  const int64_t after = (int64_t{plan_->column_end} + step - 1) / step;  // the first point after the wanted MCUs
  const size_t next = row + std::min<int64_t>(after, ix.columns);
  const bool last = next >= ix.points.size();
  const size_t first = point.bit / 8, end = last ? ix.scan_bytes : ix.points[next].bit / 8;
  if (first < taken_ || first > end || end > ix.scan_bytes) return fail(), false;
  taken_ = end;
  row_ = target_row_;
  column_ = at * step;
  left_ = plan_->column_end - column_;
  const int64_t mcu = int64_t{row_} * h.mcu_columns + column_;
  int64_t segment = 0, segments = 1;
  until_restart_ = kNever;
  if (h.restart_interval) {
    segment = mcu / h.restart_interval;
    segments = (h.mcus() - 1) / h.restart_interval + 1;
    until_restart_ = h.restart_interval - mcu % h.restart_interval;
  }
  own_.load(coded_.subspan(first, end - first), segment, segments, *plan_->kernels, false);
  segment_ = 0;
  expected_ = nullptr;
  if (!last) {
    const bool ends_there = after * step == plan_->column_end || plan_->column_end == h.mcu_columns;
    const bool at_restart = h.restart_interval && (mcu + left_) % h.restart_interval == 0;
    if (ends_there && !at_restart) {
      expected_ = &ix.points[next];
      expected_bit_ = static_cast<int64_t>(own_.size) * 8 + expected_->bit % 8;
    }
    if (end < coded_.size()) own_.append(coded_[end]);
  }
  std::copy_n(point.dc, 3, predictor_);
  bits.start(own_.data(), point.bit % 8);
  return start_group();
}

// Whether more bits were taken than there are.
bool EntropyStream::ran_over() const {
  return bits.position(scan_->data()) > static_cast<int64_t>(scan_->segment_end(segment_)) * 8;
}

// At the end of a run: checks whether it was correct, and starts what comes next.
bool EntropyStream::end_run() {
  if (ran_over()) return fail(), false;
  if (expected_) {
    bool same = bits.position(scan_->data()) == expected_bit_;
    for (int i = 0; i < plan_->header->components; ++i) same &= predictor_[i] == expected_->dc[i];
    if (!same) return fail(), false;
  }
  if (++target_row_ < end_row_) return start_run();
  // Another thread begins with the next segment, and does not see how this one ends.
  if (!index_ && until_restart_ == 0 && segment_ < scan_->segment_ends.size() && !is_at_segment_end())
    return fail(), false;
  running_ = false;
  return false;
}

// Whether the last byte of a complete restart segment is reached (T.81, B.1.1.5).
bool EntropyStream::is_at_segment_end() const {
  return static_cast<size_t>((bits.position(scan_->data()) + 7) / 8) == scan_->segment_end(segment_);
}

bool EntropyStream::next_segment() {
  if (!is_at_segment_end() || segment_ >= scan_->segment_ends.size()) return fail(), false;
  bits.start(scan_->data() + scan_->segment_end(segment_++), 0);
  std::fill_n(predictor_, 3, 0);
  until_restart_ = plan_->header->restart_interval;
  return true;
}

void EntropyStream::Record::add(const McuStart& at, const int32_t (&more)[3], int components) {
  EntropyPoint point;
  point.bit = static_cast<uint32_t>(at.bit);
  for (int i = 0; i < components; ++i) {
    const int32_t dc = at.dc[i] + more[i];
    point.dc[i] = static_cast<int16_t>(dc);
    usable &= point.dc[i] == dc;
  }
  points->push_back(point);
}

void EntropyStream::note_point() {
  if (column_ % record_->step == 0) record_->add(position(), {0, 0, 0}, plan_->header->components);
}

// Sets up the slots of as many MCUs as follow each other without a break, all of them wanted or none.
bool EntropyStream::start_group() {
  if (record_) note_point();
  if (notes_) notes_->push_back(position());
  const RegionPlan& p = *plan_;
  wanted_ = row_ >= first_row_ && row_ < end_row_ && column_ >= p.column_begin && column_ < p.column_end;
  wanted_ &= !kept_;
  skipping_ = p.fast_tables && (p.dc_only || (!wanted_ && !kept_));
  int size = 1;
  if (p.group > 1 && !notes_) {
    int64_t most = std::min({int64_t{p.group}, left_, until_restart_, int64_t{p.header->mcu_columns} - column_});
    if (record_) most = std::min<int64_t>(most, record_->step - column_ % record_->step);
    if (column_ < p.column_begin) most = std::min<int64_t>(most, p.column_begin - column_);
    size = static_cast<int>(most);
  }
  group_ = size;
  const int blocks = p.header->blocks_per_mcu, all = size * blocks;
  if (all != slots_set_ || skipping_ != slots_skip_) {
    slots_set_ = all;
    slots_skip_ = skipping_;
    for (int i = 0; i < all; ++i) {
      const RegionPlan::Block& b = p.block[i % blocks];
      const void* entries = b.ac->one.entry;
      if (p.fast_tables) entries = skipping_ ? static_cast<const void*>(b.ac->skip->entry) : b.ac->two->entry;
      slots_[i] = {b.dc, entries, &predictor_[b.component], coefficients_ + 64 * i, b.ac};
    }
    slots_[all] = {};
  }
  for (int i = 0; kept_ && i < all; ++i) slots_[i].coefficients = kept_ + 64 * i;
  slot = slots_;
  return true;
}

bool EntropyStream::finish_group() {
  // Checks to the exact bit where the run or the segment ends; until then this keeps the reader in its memory.
  if (bits.at - 8 > scan_->data() + scan_->size) return fail(), false;
  deliver();
  column_ += group_;
  left_ -= group_;
  until_restart_ -= group_;
  done_ += group_;
  if (bits.position(scan_->data()) >= stop_) left_ = std::min<int64_t>(left_, overrun_), stop_ = kNever;
  if (column_ == plan_->header->mcu_columns) {
    column_ = 0;
    ++row_;
    const int32_t most = kept_ ? kLargestKept : kLargestPredictor;
    for (int32_t p : predictor_)
      if (p > most || p < -most) return fail(), false;
    if (record_ && row_ >= end_row_ && !delivered_all_) {
      delivered_all_ = !ran_over();
      if (!delivered_all_) return fail(), false;
    }
  }
  if (left_ == 0) {
    if (!record_ && (index_ || plan_->header->restart_interval)) return end_run();
    failed_ = ran_over();
    running_ = false;
    return false;
  }
  if (until_restart_ == 0 && !next_segment()) return false;
  return start_group();
}

// Coefficients become samples, or stay; those of the next group are zero.
void EntropyStream::deliver() {
  const int all = group_ * plan_->header->blocks_per_mcu;
  if (kept_) {
    kept_ += 64 * all;
  } else if (wanted_) {
    transform_group(*plan_, coefficients_, row_, column_, group_);
  } else {
    if (!skipping_) std::memset(coefficients_, 0, sizeof(int16_t) * 64 * all);
    for (int i = 0; i < all; ++i) coefficients_[64 * i] = 0;  // skipping has written no others
  }
}

void transform_group(const RegionPlan& p, int16_t* coefficients, int row, int column, int group) {
  alignas(64) uint8_t unwanted[64];
  const int blocks = p.header->blocks_per_mcu, all = group * blocks;
  uint8_t* to[kMostBlocks + 1];
  ptrdiff_t stride[kMostBlocks + 1];
  for (int i = 0; i < all; ++column)
    for (int b = 0; b < blocks; ++b, ++i) {
      const RegionPlan::Block& block = p.block[b];
      const bool wanted = block.to && column >= p.column_begin && column < p.column_end;
      to[i] = wanted ? block.to + (column - p.column_begin) * block.column_step + (row - p.row_begin) * block.row_step
                     : unwanted;
      stride[i] = wanted ? block.stride : 8;
    }
  if (all & 1) to[all] = unwanted, stride[all] = 8;
  for (int i = 0; i < all; i += 2) {
    if (to[i] == unwanted && to[i + 1] == unwanted) {
      std::memset(coefficients + 64 * i, 0, sizeof(int16_t) * 128);
      continue;
    }
    const RegionPlan::Pair& pair = p.pair[i / 2];
    pair.transform(coefficients + 64 * i, coefficients + 64 * i + 64, pair.quant, to[i], stride[i], to[i + 1],
                   stride[i + 1]);
  }
}

}  // namespace penstock::jpeg
