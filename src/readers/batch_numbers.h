// SPDX-License-Identifier: Apache-2.0
// Which part of an order the batch of a number takes: arithmetic, without going through the batches before it.
#pragma once
#include "data/sample_order.h"
#include "readers/source.h"

namespace penstock {

// Batches dealt one by one: the worker has batches worker, worker + workers, ... of the whole order.
struct Dealing {
  int32_t workers = 1, worker = 0;
};

// How an order becomes batches. `unit` is how many of what it counts a batch takes. Where batches are dealt to several
// workers the order is that of all of them, and a batch of the worker is counted as the round in which each has one.
class BatchNumbers {
 public:
  BatchNumbers(const SampleOrder& order, int64_t unit, EpochMode mode, Dealing dealing = {})
      : order_(order), unit_(unit), mode_(mode), dealing_(dealing) {}

  int64_t length(uint64_t epoch) const;           // how many the epoch's batches take, over all workers
  int64_t batches(uint64_t epoch) const;          // of the worker, where epochs are cut
  int64_t largest_batches(uint64_t epoch) const;  // of the worker that has most
  // The same in the order of which nothing has been taken; the number counts from its first epoch.
  int64_t number(uint64_t epoch, int64_t batch) const;
  // Where the batch, or the round of it, begins. Error (argument) if no epoch has a batch.
  SampleOrder::Cursor place(int64_t number) const;
  // The place `count` later, in a stream of epochs.
  SampleOrder::Cursor after(SampleOrder::Cursor from, int64_t count) const;

 private:
  bool stream() const { return mode_ == EpochMode::stream; }
  uint64_t period() const;                        // epochs after which their lengths are the same again
  int64_t counted(uint64_t epoch) const;          // batches, or in a stream what the order counts
  int64_t before(uint64_t epoch) const;           // of counted()
  SampleOrder::Cursor find(int64_t count) const;  // the epoch and what of it is before that

  const SampleOrder& order_;
  int64_t unit_;
  EpochMode mode_;
  Dealing dealing_;
};

}  // namespace penstock
