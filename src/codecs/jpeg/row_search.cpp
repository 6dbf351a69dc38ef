// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/row_search.h"

#include <algorithm>

namespace penstock::jpeg {

namespace {
constexpr int kMostBands = 64;
// How much longer a band takes whose beginning becomes known only as it is reached: no second band runs in turn.
constexpr size_t kAlone = 5, kInTurn = 4;
constexpr double kPassing = 0.55;                   // of the time to decode what is passed
constexpr int64_t kLeastGuess = int64_t{16} << 13;  // bits: a guess needs some hundred to become right
}  // namespace

RowSearch::RowSearch(const RegionPlan& plan, const EntropyLoops& loops, const ScanBytes& scan,
                     EntropyStream::Record* record, int threads)
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
  // The first thread decodes as far as where the first guess begins while the others pass a part each.
  const int64_t bits = static_cast<int64_t>(scan.size) * 8 * rows / plan.header->mcu_rows;
  const auto guesses = static_cast<size_t>(std::min(int64_t{threads} - 1, bits / kLeastGuess));
  if (guesses < 2) return;
  guesses_.resize(guesses);
  const double share = 1 / (static_cast<double>(guesses) + kPassing);
  for (size_t i = 0; i < guesses; ++i)
    guesses_[i].from = static_cast<int64_t>(static_cast<double>(bits) * share * (static_cast<double>(i) + kPassing));
}

// The first one that is not yet passed.
RowSearch::Guess* RowSearch::next_guess() {
  for (Guess& g : guesses_)
    if (!g.taken && g.from > bands_[found_].start.bit) return g.taken = true, &g;
  return nullptr;
}

// Whether another thread knows what follows.
bool RowSearch::has_enough(const Guess& guess, int64_t bit) {
  if (found_ + 1 == bands_.size()) return true;
  for (Guess& next : guesses_) {
    if (next.from <= guess.from || next.from > bit) continue;
    if (!next.taken) next.taken = next.passed = true;  // nobody has come for it
    if (next.passed) continue;
    // Some band must begin in both, after the other one has become right.
    const auto before = [](int64_t at, const RowStart& note) { return at < note.bit; };
    const auto after = guess.notes.end() - std::upper_bound(guess.notes.begin(), guess.notes.end(), next.from, before);
    const Band& widest = bands_.back();
    return after > int64_t{2} * (widest.end - widest.first) * plan_.header->mcu_columns;
  }
  return false;
}

// Passes MCUs from where the guess begins until another thread knows what follows.
void RowSearch::run_guess(EntropyStream& stream, Guess& g, std::unique_lock<std::mutex>& lock) {
  RowStart at;
  at.bit = g.from;
  const int64_t end = static_cast<int64_t>(scan_.size) * 8;
  std::vector<RowStart> notes;
  while (!failed_ && at.bit < end && !has_enough(g, at.bit)) {
    if (const RowStart& known = bands_[found_].start; !g.linked && known.bit > at.bit) at = known, g.notes.clear();
    lock.unlock();
    notes.clear();
    stream.begin_guess(plan_, scan_, at, plan_.header->mcu_columns, &notes);
    loops_.run_one(stream);
    lock.lock();
    const int64_t last = notes.back().bit;
    const bool ends = stream.failed() && (g.linked || last > end - static_cast<int64_t>(kReadAhead) * 8);
    if (stream.failed() && !ends) {  // the guess is not right yet
      g.notes.clear();
      at = {};
      at.bit = last + 8;
      continue;
    }
    g.notes.insert(g.notes.end(), notes.begin(), notes.end());
    follow_guesses();
    if (ends) return;
    at = stream.position();
  }
}

// Finds where bands begin in what is noted.
bool RowSearch::follow(Guess& g) {
  if (!g.linked) {
    const RowStart& start = bands_[found_].start;
    const auto before = [](const RowStart& note, int64_t bit) { return note.bit < bit; };
    const auto same = std::lower_bound(g.notes.begin(), g.notes.end(), start.bit, before);
    if (same == g.notes.end() || same->bit != start.bit) return false;
    g.linked = true;
    g.note = static_cast<size_t>(same - g.notes.begin()), g.band = found_;
    for (int c = 0; c < 3; ++c) g.dc[c] = start.dc[c] - same->dc[c];
  }
  const size_t before = found_;
  while (found_ + 1 < bands_.size()) {
    Band& next = bands_[found_ + 1];
    const auto rows = static_cast<size_t>(next.first - bands_[g.band].first);
    const size_t at = g.note + rows * static_cast<size_t>(plan_.header->mcu_columns);
    if (at >= g.notes.size()) break;
    next.known = true;
    next.start = g.notes[at];
    for (int c = 0; c < 3; ++c) next.start.dc[c] += g.dc[c];
    ++found_;
  }
  return found_ > before;
}

void RowSearch::follow_guesses() {
  bool more = true, any = false;
  while (more) {
    more = false;
    for (Guess& g : guesses_) more |= follow(g);
    any |= more;
  }
  if (any) changed_.notify_all();
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
  follow_guesses();
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
  const int number = threads_++;
  const bool from_below = number != 1;
  EntropyStream streams[2];
  if (number > 0) {
    if (Guess* const guess = next_guess()) run_guess(streams[0], *guess, lock);
    if (!runs_ahead_) {
      runs_ahead_ = true;
      run_ahead(streams[0], lock);
      runs_ahead_ = false;
    }
  }
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
