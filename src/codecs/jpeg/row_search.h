// SPDX-License-Identifier: Apache-2.0
// One image on several threads: rows of MCUs in bands, and the search for where bands begin in the entropy-coded data.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "codecs/jpeg/entropy_loop.h"
#include "codecs/jpeg/entropy_stream.h"

namespace penstock::jpeg {

// Bands of a scan without restart markers and without an index. Where a band begins is known to the thread that has
// decoded the one before it. So the first thread decodes from the top, and the second runs ahead: it decodes only what
// it needs to pass, without transforms, and notes where bands begin. It stops where the others would end as late as
// it, and decodes the rest. Further threads, and each that is done, take bands whose beginning is known.
//
// Three threads and more guess: each but the first begins anywhere in the data. A Huffman decoder that begins at a
// wrong bit comes to the right ones soon, but does not know it, nor which MCU it is at. It notes each place where it
// believes an MCU to begin. When a band is found to begin at one of these places, so do all that follow (the same on
// GPUs: A. Weissenberger and B. Schmidt, "Massively parallel Huffman decoding on GPUs", 2018).
class RowSearch {
 public:
  // `record`: of the index to make, or null. Then bands cover all rows of the picture. `threads`: that may come.
  RowSearch(const RegionPlan& plan, const EntropyLoops& loops, const ScanBytes& scan, EntropyStream::Record* record,
            int threads);
  // For each of the threads, which may come at any time; returns when no band is left to begin.
  void work();
  // After all threads: whether every band is decoded and ended where the next one begins. Joins the index's points.
  bool done();

 private:
  struct Band {
    int first = 0, end = 0;  // rows of MCUs
    bool known = false, taken = false, ended = false;
    RowStart start;
    std::vector<EntropyPoint> points;
    EntropyStream::Record record;
  };
  struct Guess {
    int64_t from = 0;                    // a bit
    bool taken = false, passed = false;  // by a thread that goes on from an earlier one
    std::vector<RowStart> notes;
    bool linked = false;
    size_t note = 0, band = 0;  // this note is where this band begins
    int32_t dc[3] = {0, 0, 0};  // what its predictors lack
  };
  Guess* next_guess();
  void run_guess(EntropyStream& stream, Guess& guess, std::unique_lock<std::mutex>& lock);
  bool has_enough(const Guess& guess, int64_t bit);
  bool follow(Guess& guess);
  void follow_guesses();
  void run_ahead(EntropyStream& stream, std::unique_lock<std::mutex>& lock);
  bool should_run_on() const;
  int next_band(bool from_below) const;  // -1: none
  bool begin(EntropyStream& stream, Band& band);
  void end(const EntropyStream& stream, size_t band);  // under mutex_
  void publish(size_t band, const RowStart& start);

  const RegionPlan& plan_;
  const EntropyLoops& loops_;
  const ScanBytes& scan_;
  EntropyStream::Record* record_;
  std::vector<Band> bands_;
  std::vector<Guess> guesses_;  // by position
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t found_ = 0;    // the last band whose start is known
  size_t untaken_ = 0;  // bands
  int threads_ = 0;
  bool runs_ahead_ = false, failed_ = false;
};

}  // namespace penstock::jpeg
