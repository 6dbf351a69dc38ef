// SPDX-License-Identifier: Apache-2.0
#include "exec/group_decoder.h"

#include <algorithm>
#include <utility>

#include "base/begin_thread.h"
#include "base/clock.h"
#include "base/error_of.h"

namespace penstock {

GroupDecoder::GroupDecoder(GpuWork& gpu, std::unique_ptr<BatchDecoder> decoder, const DecodeParams& params,
                           int64_t most)
    : gpu_(gpu),
      decoder_(std::move(decoder)),
      params_(params),
      slots_(static_cast<size_t>(std::max(1, decoder_->lanes()))) {
  // A full group, or enough to keep all slots busy if there are fewer images.
  const int64_t share = most / static_cast<int64_t>(slots_.size() + 1);
  enough_ = static_cast<size_t>(std::max<int64_t>(1, std::min<int64_t>(decoder_->best_group(), share)));
  if (slots_.size() > 1)
    most_images_ = 2 * static_cast<size_t>(std::max(1, decoder_->best_group())), most_bytes_ = kMostBytesOfSeveral;
  for (Slot& slot : slots_) slot.stream = gpu_.own_stream();
  signal_->passed.reserve(slots_.size());
  thread_ = begin_thread([this] { serve(); });
}

GroupDecoder::~GroupDecoder() {
  {
    std::lock_guard lock(signal_->mutex);
    stop_ = true;
  }
  signal_->wake.notify_all();
  thread_.join();
  for (Slot& slot : slots_) {
    error_of([&] { gpu_.runtime().synchronize(gpu_.device(), slot.stream); });  // before its files are released
    slot.in_flight = nullptr;                                                   // before its decoder is destroyed
  }
}

void GroupDecoder::add(DecodeJob job) {
  for (const DeviceDecode& image : job.images) job.bytes += decoder_->device_bytes(image);
  bytes_ += job.bytes;
  {
    std::lock_guard lock(signal_->mutex);
    images_ += job.images.size();
    jobs_.push_back(std::move(job));
  }
  signal_->wake.notify_all();
}

void GroupDecoder::serve() {
  const auto is_busy = [](const Slot& slot) { return slot.busy; };
  std::unique_lock lock(signal_->mutex);
  for (;;) {
    const auto free = std::find_if_not(slots_.begin(), slots_.end(), is_busy);
    const bool others = std::any_of(slots_.begin(), slots_.end(), is_busy);
    // While other groups keep the decoder busy, the next one may grow.
    const auto begins = [&] { return free != slots_.end() && !jobs_.empty() && (!others || images_ >= enough_); };
    signal_->wake.wait(lock, [&] { return stop_ || !signal_->passed.empty() || begins(); });
    if (stop_) return;
    if (!signal_->passed.empty()) {  // iterations wait for these
      const size_t slot = signal_->passed.front();
      signal_->passed.erase(signal_->passed.begin());
      lock.unlock();
      settle(slots_[slot]);
      lock.lock();
      continue;
    }
    take_group(*free);
    lock.unlock();
    decode(static_cast<size_t>(free - slots_.begin()));
    lock.lock();
  }
}

void GroupDecoder::take_group(Slot& slot) {
  size_t images = 0, bytes = 0;
  while (!jobs_.empty() && (slot.group.empty() || (images + jobs_.front().images.size() <= most_images_ &&
                                                   bytes + jobs_.front().bytes <= most_bytes_))) {
    images += jobs_.front().images.size();
    bytes += jobs_.front().bytes;
    slot.group.push_back(std::move(jobs_.front()));
    jobs_.pop_front();
  }
  images_ -= images;
}

void GroupDecoder::decode(size_t number) {
  Slot& slot = slots_[number];
  const int device = gpu_.device();
  DeviceRuntime& runtime = gpu_.runtime();
  slot.busy = true;
  slot.begin = clock_ns();
  for (DecodeJob& job : slot.group) {
    slot.files.push_back(job.files);
    slot.images.insert(slot.images.end(), std::make_move_iterator(job.images.begin()),
                       std::make_move_iterator(job.images.end()));
  }
  const auto failure = error_of([&] {
    for (DecodeJob& job : slot.group) runtime.wait(device, slot.stream, *job.taken);
    slot.in_flight = decoder_->decode(slot.images, params_, slot.stream);
    if (slot.in_flight) bytes_ += slot.bytes = slot.in_flight->device_bytes();
    const auto passed = runtime.record(device, slot.stream);
    for (DecodeJob& job : slot.group) runtime.wait(device, job.stream, *passed);
  });
  for (DecodeJob& job : slot.group) bytes_ -= std::exchange(job.bytes, 0);
  if (failure) slot.in_flight = nullptr;
  if (!slot.in_flight) tell(slot, failure);
  const auto passed = [signal = signal_, number] {
    {
      std::lock_guard lock(signal->mutex);
      signal->passed.push_back(number);
    }
    signal->wake.notify_all();
  };
  if (error_of([&] { gpu_.notify(slot.stream, passed); })) passed();
}

void GroupDecoder::settle(Slot& slot) {
  bytes_ -= slot.bytes;
  slot.bytes = 0;
  if (slot.in_flight) {
    const auto failure = error_of([&] { slot.in_flight->finish(slot.images); });
    slot.in_flight = nullptr;
    tell(slot, failure);
  }
  slot.files.clear();
  slot.busy = false;
}

// Tells each job its share of the time.
void GroupDecoder::tell(Slot& slot, const std::optional<Error>& failure) {
  const int64_t begin = std::max(slot.begin, told_);  // concurrent groups share the time
  told_ = clock_ns();
  const int64_t time = told_ - begin;
  const auto total = static_cast<int64_t>(slot.images.size());
  size_t k = 0;
  const auto at = [&] { return begin + time * static_cast<int64_t>(k) / total; };
  std::vector<DecodeJob> group = std::move(slot.group);
  slot.group.clear();
  for (DecodeJob& job : group) {
    const int64_t from = at();
    for (DeviceDecode& image : job.images) image = std::move(slot.images[k++]);
    job.done(job, failure, from, at());
  }
  slot.images.clear();
}

}  // namespace penstock
