// SPDX-License-Identifier: Apache-2.0
#include "data/read_tally.h"

#include "base/clock.h"

namespace penstock {
namespace {

struct OfThread {
  ReadTally tally;
  int depth = 0;
  bool waits = false;
};
constinit thread_local OfThread own;

}  // namespace

ReadTally& ReadTally::operator+=(const ReadTally& t) {
  reads += t.reads, remote += t.remote, waited += t.waited, bytes += t.bytes, ns += t.ns;
  return *this;
}

ReadTally reads_of_thread() { return own.tally; }

CountedRead::CountedRead(bool remote) : outermost_(own.depth++ == 0) {
  if (!outermost_) return;
  begin_ns_ = clock_ns();
  own.waits = false;
  ++own.tally.reads, own.tally.remote += remote;
}

CountedRead::~CountedRead() {
  --own.depth;
  if (!outermost_) return;
  own.tally.ns += clock_ns() - begin_ns_;
  own.tally.waited += own.waits;
}

void CountedRead::of(int64_t bytes) {
  if (outermost_) own.tally.bytes += bytes;
}

void CountedRead::waits() { own.waits = true; }

}  // namespace penstock
