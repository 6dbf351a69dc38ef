// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/row_search.h"

#include <algorithm>

namespace penstock::jpeg {

namespace {
constexpr int kMostBands = 64;
// How much longer a band takes whose beginning becomes known only as it is reached: no second band runs in turn.
constexpr size_t kAlone = 5, kInTurn = 4;
}  // namespace

RowSearch::RowSearch(const RegionPlan& plan, const EntropyLoops& loops, const ScanBytes& scan,
                     EntropyStream::Record* record)
    : plan_(plan), loops_(loops), scan_(scan), record_(record) {
  const int rows = record ? plan.header->mcu_rows : plan.row_end;
  const int n = std::min(rows, kMostBands);
  bands_.resize(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) {
    Band& b = bands_[static_cast<size_t>(i)];
    b.first = static_cast<int>(int64_t{rows} * i / n), b.end = static_cast<int>(int64_t{rows} * (i + 1) / n);
    if (!record) continue;
    b.points.reserve(static_cast<size_t>(b.end - b.first) * ((plan.header->mcu_columns - 1) / record->step + 1));
    b.record = {record->step, &b.points, true};
  }
  bands_[0].known = true;
  untaken_ = bands_.size();
}

// The lowest band that can begin, or the highest.
int RowSearch::next_band(bool from_below) const {
  const auto open = [&](size_t i) { return bands_[i].known && !bands_[i].taken; };
  for (size_t k = 0; k <= found_; ++k)
    if (const size_t i = from_below ? k : found_ - k; open(i)) return static_cast<int>(i);
  return -1;
}

bool RowSearch::begin(EntropyStream& stream, Band& b) {
  return stream.begin(plan_, scan_, b.start, b.first, b.end, record_ ? &b.record : nullptr, false);
}

void RowSearch::publish(size_t band, const RowStart& start) {
  if (band >= bands_.size()) return;
  Band& b = bands_[band];
  if (b.known) {
    failed_ |= !(b.start == start);
    return;
  }
  b.known = true;
  b.start = start;
  found_ = band;
}

void RowSearch::end(const EntropyStream& stream, size_t band) {
  bands_[band].ended = true;
  failed_ |= stream.failed();
  if (!failed_) publish(band + 1, stream.position());
  changed_.notify_all();
}

// Whether the others have less to do than what is left here.
bool RowSearch::should_run_on() const {
  size_t known = 0;
  for (size_t i = 0; i <= found_; ++i) known += !bands_[i].taken;
  const size_t left = bands_.size() - found_, others = static_cast<size_t>(std::max(1, threads_ - 1));
  return found_ + 1 < bands_.size() && left * kAlone * others > known * kInTurn;
}

void RowSearch::run_ahead(EntropyStream& stream, std::unique_lock<std::mutex>& lock) {
  while (!failed_ && should_run_on()) {
    const size_t at = found_;
    const Band& b = bands_[at];
    lock.unlock();
    if (stream.begin(plan_, scan_, b.start, b.first, b.end, nullptr, true)) loops_.run_one(stream);
    lock.lock();
    failed_ |= stream.failed();
    if (!failed_) publish(at + 1, stream.position());
    changed_.notify_all();
  }
}

void RowSearch::work() {
  std::unique_lock lock(mutex_);
  if (untaken_ == 0 || failed_) return;
  const bool from_below = threads_++ != 1;
  EntropyStream streams[2];
  if (!from_below) run_ahead(streams[0], lock);
  while (untaken_ > 0 && !failed_) {
    const int first = next_band(from_below);
    if (first < 0) {  // the thread that decodes or passes the band before it will tell
      changed_.wait(lock);
      continue;
    }
    const auto take = [&](int band) { bands_[static_cast<size_t>(band)].taken = true, --untaken_; };
    take(first);
    // Two in turn hide each other's latencies. Whoever decodes the last known band alone tells the next one sooner.
    const int second = threads_ > 1 && static_cast<size_t>(first) != found_ ? next_band(from_below) : -1;
    if (second >= 0) take(second);
    lock.unlock();
    Band& a = bands_[static_cast<size_t>(first)];
    if (second >= 0) {
      Band& b = bands_[static_cast<size_t>(second)];
      const bool ready = begin(streams[0], a) & begin(streams[1], b);
      if (ready) loops_.run_two(streams[0], streams[1]);
    } else if (begin(streams[0], a)) {
      loops_.run_one(streams[0]);
    }
    lock.lock();
    end(streams[0], static_cast<size_t>(first));
    if (second >= 0) end(streams[1], static_cast<size_t>(second));
  }
  changed_.notify_all();
}

bool RowSearch::done() {
  const std::lock_guard lock(mutex_);
  if (failed_) return false;
  for (const Band& b : bands_)
    if (!b.ended) return false;
  if (!record_) return true;
  for (const Band& b : bands_) {
    record_->points->insert(record_->points->end(), b.points.begin(), b.points.end());
    record_->usable &= b.record.usable;
  }
  return true;
}

}  // namespace penstock::jpeg
