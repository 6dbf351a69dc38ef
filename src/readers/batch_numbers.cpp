// SPDX-License-Identifier: Apache-2.0
#include "readers/batch_numbers.h"

namespace penstock {
namespace {

constexpr int64_t kMost = int64_t{1} << 62;

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

int64_t checked_product(int64_t a, int64_t b) {
  const auto product = static_cast<__int128>(a) * b;
  if (product > kMost) bad_argument("a batch after {} samples is too far away", kMost);
  return static_cast<int64_t>(product);
}

}  // namespace

int64_t BatchNumbers::length(uint64_t epoch) const {
  if (mode_ == EpochMode::even) return order_.even_length(epoch, unit_);
  const int64_t n = order_.length(epoch);
  if (mode_ != EpochMode::drop) return n;
  const int64_t least = order_.settings().epoch_end == EpochEnd::exact ? order_.smallest_share(epoch) : n;
  return least - least % unit_;
}

int64_t BatchNumbers::batches(uint64_t epoch) const {
  const int64_t all = ceil_div(length(epoch), unit_);
  if (mode_ == EpochMode::drop) return all / dealing_.workers;
  const int64_t without = mode_ == EpochMode::even ? 0 : dealing_.worker;
  return all > without ? (all - without - 1) / dealing_.workers + 1 : 0;
}

int64_t BatchNumbers::largest_batches(uint64_t epoch) const {
  const int64_t n = mode_ == EpochMode::drop ? length(epoch) : order_.largest_share(epoch);
  const int64_t all = ceil_div(n, unit_);
  return mode_ == EpochMode::drop ? all / dealing_.workers : ceil_div(all, dealing_.workers);
}

uint64_t BatchNumbers::period() const {
  const OrderSettings& s = order_.settings();
  return order_.contiguous() && !s.stick_to_shard ? static_cast<uint64_t>(s.num_shards) : 1;
}

int64_t BatchNumbers::counted(uint64_t epoch) const {
  return stream() ? order_.stream_length(epoch, unit_) : batches(epoch);
}

int64_t BatchNumbers::before(uint64_t epoch) const {
  const uint64_t p = period();
  int64_t whole = 0, rest = 0;
  for (uint64_t e = 0; e < p && epoch >= p; ++e) whole += counted(e);
  for (uint64_t e = 0; e < epoch % p; ++e) rest += counted(e);
  return checked_product(whole, static_cast<int64_t>(epoch / p)) + rest;
}

SampleOrder::Cursor BatchNumbers::find(int64_t count) const {
  const uint64_t p = period();
  int64_t whole = 0;
  for (uint64_t e = 0; e < p; ++e) whole += counted(e);
  if (whole == 0) bad_argument("an epoch of this reader has fewer samples than one batch of {}", unit_);
  SampleOrder::Cursor at{static_cast<uint64_t>(count / whole) * p, count % whole};
  for (; at.taken >= counted(at.epoch); ++at.epoch) at.taken -= counted(at.epoch);
  if (at.epoch > UINT32_MAX) bad_argument("batch {} is of epoch {}: there are {}", count, at.epoch, UINT32_MAX);
  return at;
}

int64_t BatchNumbers::number(uint64_t epoch, int64_t batch) const {
  int64_t first = before(epoch);
  if (stream()) {
    first = ceil_div(first, unit_);
    first = first > dealing_.worker ? ceil_div(first - dealing_.worker, dealing_.workers) : 0;
  }
  if (batch > kMost - first) bad_argument("batch {} of epoch {} is too far away", batch, epoch);
  return first + batch;
}

SampleOrder::Cursor BatchNumbers::place(int64_t number) const {
  const int64_t round = unit_ * dealing_.workers;
  if (stream()) return find(checked_product(number, round));
  SampleOrder::Cursor at = find(number);
  at.taken *= round;
  return at;
}

SampleOrder::Cursor BatchNumbers::after(SampleOrder::Cursor from, int64_t count) const {
  from.taken += count;
  for (int64_t n = 0; from.taken >= (n = order_.stream_length(from.epoch, unit_)); ++from.epoch) from.taken -= n;
  return from;
}

}  // namespace penstock
