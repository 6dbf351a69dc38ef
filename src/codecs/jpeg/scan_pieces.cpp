// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/scan_pieces.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/crew.h"
#include "base/spin.h"

namespace penstock::jpeg {

namespace {
constexpr int kOverrun = 6;     // MCUs into the next piece, which mostly has become right by then
constexpr int kMostTries = 64;  // MCUs more, where it has not
constexpr int kMostMisses = 3;
constexpr int kMostStarts = 16;                                // of a guess, each after an invalid code
constexpr int64_t kLeastMcus = 40, kMostBlocksOfPiece = 8192;  // they stay in a core's cache
constexpr int64_t kDenser = 4;                                 // a piece of blue sky has so many times the blocks
constexpr int32_t kLargestStart = 1 << 27;                     // of a predictor; more is judged by one thread
}  // namespace

void ScanPieces::Coefficients::at_least(size_t blocks) {
  const size_t bytes = blocks * 128 + 64;
  if (bytes <= bytes_) return;
  memory_.reset(), bytes_ = 0;
  memory_.reset(std::calloc(bytes, 1));
  if (!memory_) throw std::bad_alloc();
  bytes_ = bytes;
  first_ = reinterpret_cast<int16_t*>((reinterpret_cast<uintptr_t>(memory_.get()) + 63) / 64 * 64);
}

void ScanPieces::shrink(size_t most) {
  size_t bytes = 0;
  for (const Piece& p : pieces_) bytes += p.coefficients.bytes();
  if (bytes > most) pieces_.clear();
}

// Pieces from a known place on, of about equal length.
void ScanPieces::lay_out(const McuStart& at, int64_t mcu, int threads) {
  const ScanHeader& h = *plan_->header;
  const int64_t bits = static_cast<int64_t>(scan_->size) * 8, mean = std::max<int64_t>(1, bits / h.mcus());
  const int64_t end = total_ == h.mcus() ? bits - 8 : bits * total_ / h.mcus(), left = end - at.bit;
  const int64_t most_mcus = std::max(kLeastMcus, kMostBlocksOfPiece / h.blocks_per_mcu);
  const int64_t n = std::min<int64_t>(threads, left / (mean * kLeastMcus));
  count_ = n < 2 ? 1 : static_cast<size_t>(n);
  while (pieces_.size() < count_) pieces_.emplace_back();
  const int64_t turns = n < 2 ? 1 : (left - 1) / (n * mean * most_mcus) + 1;
  for (size_t i = 0; i < count_; ++i) {
    Piece& p = pieces_[i];
    const auto place = [&](size_t of) { return at.bit + left * static_cast<int64_t>(of) / (turns * n); };
    p.right = false;
    p.notes.clear();
    p.starts = 0;
    p.span = {.start = at, .mcu = mcu, .mcus = total_ - mcu, .stop = INT64_MAX, .overrun = kOverrun};
    if (n >= 2) p.span.stop = place(i + 1);
    if (i == 0) {
      if (record_) p.span.notes = &p.notes;
      continue;
    }
    const int64_t room = std::min(total_, kDenser * most_mcus);
    p.coefficients.at_least(static_cast<size_t>((room + kMostTries + 1) * h.blocks_per_mcu + 2));
    p.span.start = {};
    p.span.start.bit = place(i) / 8 * 8;
    p.span.mcu = 0, p.span.mcus = room;
    p.span.kept = p.coefficients.block(0), p.span.notes = &p.notes;
  }
}

bool ScanPieces::run(const RegionPlan& plan, const EntropyLoops& loops, const ScanBytes& scan,
                     EntropyStream::Record* record, int threads) {
  if (dirty_) pieces_.clear();  // an error has ended the last run
  dirty_ = true;
  plan_ = &plan, loops_ = &loops, scan_ = &scan, record_ = record;
  const ScanHeader& h = *plan.header;
  total_ = record ? h.mcus() : int64_t{plan.row_end - 1} * h.mcu_columns + plan.column_end;
  McuStart at;
  int64_t mcu = 0;
  int misses = 0;
  bool good = true;
  while (good && mcu < total_) {
    lay_out(at, mcu, misses < kMostMisses ? threads : 0);
    joined_ = 0;
    if (count_ == 1) run_piece(0);
    else Crew::of_thread()->run(static_cast<int64_t>(count_), [&](int64_t i) { run_piece(static_cast<size_t>(i)); });
    good = !pieces_[0].stream.failed();
    size_t right = 0;
    for (size_t i = 0; i < count_; ++i) {
      Piece& p = pieces_[i];
      if (good && p.right && right == i) {
        ++right;
        if (record_) record_points(p);
        at = p.end, mcu = p.end_mcu;
      }
      if (i > 0) clear(p);
    }
    if (2 * right < count_) ++misses;
  }
  dirty_ = false;
  return good && at.bit <= static_cast<int64_t>(scan.size) * 8;
}

// Pieces begin in order, so all before this one have begun: it may wait for them.
void ScanPieces::run_piece(size_t number) {
  Piece& p = pieces_[number];
  const auto wait = [&] {
    const auto come = [&] { return joined_.load(std::memory_order_acquire) == number; };
    if (spin_until(come)) return;
    for (size_t now; (now = joined_.load(std::memory_order_acquire)) != number;) joined_.wait(now);
  };
  const auto tell = [&] {
    joined_.store(number + 1, std::memory_order_release);
    joined_.notify_all();
  };
  int64_t end = 0;
  try {
    if (number > 0) {
      decode_guess(p);
      wait();
      p.right = join(pieces_[number - 1], p);
      if (p.right) end = p.end_mcu;
    } else {
      if (p.stream.begin(*plan_, *scan_, p.span)) loops_->run_one(p.stream);
      settle_first(p);
    }
  } catch (...) {
    wait();
    tell();
    throw;
  }
  tell();  // from now on the next piece may make this one longer
  if (p.span.kept) transform(p, p.first_mcu, end);
}

void ScanPieces::decode_guess(Piece& p) {
  do {
    p.notes.clear();
    p.stream.begin(*plan_, *scan_, p.span);
    loops_->run_one(p.stream);
  } while (p.stream.failed() && begin_again(p));
}

// After the MCU that was not one. False: it is not worth while, or the data have ended.
bool ScanPieces::begin_again(Piece& p) {
  const int64_t from = p.notes.back().bit + 8;
  if (++p.starts == kMostStarts || from >= p.span.stop) return false;
  if (from > (static_cast<int64_t>(scan_->size) - static_cast<int64_t>(kReadAhead)) * 8) return false;
  clear(p, 0);
  p.span.start.bit = from;
  return true;
}

McuStart ScanPieces::note(const Piece& p, size_t i) const {
  return i < p.notes.size() ? p.notes[i] : p.stream.position();
}

void ScanPieces::settle_first(Piece& p) {
  p.right = !p.stream.failed();
  p.first_mcu = p.span.mcu, p.end_mcu = p.first_mcu + p.stream.done();
  p.first_note = 0;
  p.end = p.stream.position();
  std::fill_n(p.dc, 3, 0);
}

bool ScanPieces::join(Piece& before, Piece& p) {
  if (!before.right || before.end_mcu >= total_) return false;
  for (int32_t dc : before.end.dc)
    if (dc > kLargestStart || dc < -kLargestStart) return false;
  const auto earlier = [](const McuStart& note, int64_t bit) { return note.bit < bit; };
  for (int tries = 0;; ++tries) {
    const auto same = std::lower_bound(p.notes.begin(), p.notes.end(), before.end.bit, earlier);
    if (same == p.notes.end()) return false;
    if (same->bit == before.end.bit) {
      p.first_note = static_cast<size_t>(same - p.notes.begin());
      for (int c = 0; c < 3; ++c) p.dc[c] = before.end.dc[c] - same->dc[c];
      break;
    }
    if (tries == kMostTries || !extend(before)) return false;
  }
  const int64_t mcus = std::min(p.stream.done() - static_cast<int64_t>(p.first_note), total_ - before.end_mcu);
  p.first_mcu = before.end_mcu, p.end_mcu = p.first_mcu + mcus;
  p.end = note(p, p.first_note + static_cast<size_t>(mcus));
  for (int c = 0; c < 3; ++c) p.end.dc[c] += p.dc[c];
  return true;
}

// By one MCU, which becomes samples at once.
bool ScanPieces::extend(Piece& p) {
  if (p.stream.failed() || p.end_mcu >= total_) return false;
  p.stream.go_on(1);
  loops_->run_one(p.stream);
  if (p.stream.failed()) return false;
  if (p.span.kept) transform(p, p.end_mcu, p.end_mcu + 1);
  ++p.end_mcu;
  p.end = p.stream.position();
  for (int c = 0; c < 3; ++c) p.end.dc[c] += p.dc[c];
  return true;
}

void ScanPieces::transform(const Piece& p, int64_t first_mcu, int64_t end_mcu) const {
  const ScanHeader& h = *plan_->header;
  const int64_t columns = h.mcu_columns, blocks = h.blocks_per_mcu;
  first_mcu = std::max(first_mcu, columns * plan_->row_begin);
  end_mcu = std::min(end_mcu, columns * plan_->row_end);
  while (first_mcu < end_mcu) {
    const auto row = static_cast<int>(first_mcu / columns), column = static_cast<int>(first_mcu % columns);
    const int64_t count = std::min({int64_t{plan_->group}, columns - column, end_mcu - first_mcu});
    const int64_t i = static_cast<int64_t>(p.first_note) + first_mcu - p.first_mcu;
    int16_t* const from = p.coefficients.block(i * blocks);
    for (int64_t b = 0; b < count * blocks; ++b)
      from[64 * b] = static_cast<int16_t>(from[64 * b] + p.dc[plan_->block[b % blocks].component]);
    transform_mcus(from, row, column, static_cast<int>(count));
    first_mcu += count;
  }
}

// From one MCU of the piece on, to what an incomplete one may have written.
void ScanPieces::clear(const Piece& p, int64_t from) const {
  const int64_t blocks = plan_->header->blocks_per_mcu, end = (p.stream.done() + 1) * blocks + 1;
  std::memset(p.coefficients.block(from * blocks), 0, sizeof(int16_t) * 64 * (end - from * blocks));
}

// All that has not become samples.
void ScanPieces::clear(const Piece& p) const {
  const int64_t columns = plan_->header->mcu_columns, first = static_cast<int64_t>(p.first_note) - p.first_mcu;
  const int64_t from = std::max(p.first_mcu, columns * plan_->row_begin);
  const int64_t to = std::min(p.end_mcu, columns * plan_->row_end);
  if (!p.right || from >= to) return clear(p, 0);
  std::memset(p.coefficients.block(0), 0, sizeof(int16_t) * 64 * (from + first) * plan_->header->blocks_per_mcu);
  clear(p, to + first);
}

void ScanPieces::record_points(const Piece& p) {
  const ScanHeader& h = *plan_->header;
  for (int64_t mcu = p.first_mcu; mcu < p.end_mcu; ++mcu) {
    if (mcu % h.mcu_columns % record_->step) continue;
    const McuStart& at = p.notes[p.first_note + static_cast<size_t>(mcu - p.first_mcu)];
    record_->add(at, p.dc, h.components);
  }
}

// An odd number of blocks is followed by those of other MCUs, which must stay.
void ScanPieces::transform_mcus(int16_t* coefficients, int row, int column, int count) const {
  const int blocks = count * plan_->header->blocks_per_mcu;
  if (blocks % 2 == 0) return transform_group(*plan_, coefficients, row, column, count);
  alignas(64) int16_t copy[64 * (kMostBlocks + 1)] = {};
  std::memcpy(copy, coefficients, sizeof(int16_t) * 64 * blocks);
  std::memset(coefficients, 0, sizeof(int16_t) * 64 * blocks);
  transform_group(*plan_, copy, row, column, count);
}

}  // namespace penstock::jpeg
