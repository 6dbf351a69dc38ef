// SPDX-License-Identifier: Apache-2.0
#include "exec/group_decoder.h"

#include <algorithm>
#include <utility>

#include "base/begin_thread.h"
#include "base/clock.h"

namespace penstock {

GroupDecoder::GroupDecoder(GpuWork& gpu, std::unique_ptr<BatchDecoder> decoder, const DecodeParams& params,
                           int64_t most)
    : gpu_(gpu),
      decoder_(std::move(decoder)),
      params_(params),
      lanes_(static_cast<size_t>(std::max(1, decoder_->lanes()))) {
  // A full group, or what keeps all lanes busy where there are never that many.
  const int64_t share = most / static_cast<int64_t>(lanes_.size() + 1);
  enough_ = static_cast<size_t>(std::max<int64_t>(1, std::min<int64_t>(decoder_->best_group(), share)));
  if (lanes_.size() > 1)
    most_images_ = 2 * static_cast<size_t>(std::max(1, decoder_->best_group())), most_bytes_ = kMostBytesOfSeveral;
  for (Lane& lane : lanes_) lane.stream = gpu_.own_stream();
  signal_->passed.reserve(lanes_.size());
  thread_ = begin_thread([this] { serve(); });
}

GroupDecoder::~GroupDecoder() {
  {
    std::lock_guard lock(signal_->mutex);
    stop_ = true;
  }
  signal_->wake.notify_all();
  thread_.join();
  for (Lane& lane : lanes_) {
    error_of([&] { gpu_.runtime().synchronize(gpu_.device(), lane.stream); });  // before its files go
    lane.in_flight = nullptr;                                                   // before its decoder goes
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
  const auto is_busy = [](const Lane& lane) { return lane.busy; };
  std::unique_lock lock(signal_->mutex);
  for (;;) {
    const auto free = std::find_if_not(lanes_.begin(), lanes_.end(), is_busy);
    const bool others = std::any_of(lanes_.begin(), lanes_.end(), is_busy);
    // While other groups keep the decoder busy, the next one may grow.
    const auto begins = [&] { return free != lanes_.end() && !jobs_.empty() && (!others || images_ >= enough_); };
    signal_->wake.wait(lock, [&] { return stop_ || !signal_->passed.empty() || begins(); });
    if (stop_) return;
    if (!signal_->passed.empty()) {  // iterations wait for these
      const size_t lane = signal_->passed.front();
      signal_->passed.erase(signal_->passed.begin());
      lock.unlock();
      settle(lanes_[lane]);
      lock.lock();
      continue;
    }
    take_group(*free);
    lock.unlock();
    decode(static_cast<size_t>(free - lanes_.begin()));
    lock.lock();
  }
}

void GroupDecoder::take_group(Lane& lane) {
  size_t images = 0, bytes = 0;
  while (!jobs_.empty() && (lane.group.empty() || (images + jobs_.front().images.size() <= most_images_ &&
                                                   bytes + jobs_.front().bytes <= most_bytes_))) {
    images += jobs_.front().images.size();
    bytes += jobs_.front().bytes;
    lane.group.push_back(std::move(jobs_.front()));
    jobs_.pop_front();
  }
  images_ -= images;
}

void GroupDecoder::decode(size_t number) {
  Lane& lane = lanes_[number];
  const int device = gpu_.device();
  DeviceRuntime& runtime = gpu_.runtime();
  lane.busy = true;
  lane.begin = clock_ns();
  for (DecodeJob& job : lane.group) {
    lane.files.push_back(job.files);
    lane.images.insert(lane.images.end(), std::make_move_iterator(job.images.begin()),
                       std::make_move_iterator(job.images.end()));
  }
  const auto failure = error_of([&] {
    for (DecodeJob& job : lane.group) runtime.wait(device, lane.stream, *job.taken);
    lane.in_flight = decoder_->decode(lane.images, params_, lane.stream);
    if (lane.in_flight) bytes_ += lane.bytes = lane.in_flight->device_bytes();
    const auto passed = runtime.record(device, lane.stream);
    for (DecodeJob& job : lane.group) runtime.wait(device, job.stream, *passed);
  });
  for (DecodeJob& job : lane.group) bytes_ -= std::exchange(job.bytes, 0);
  if (failure) lane.in_flight = nullptr;
  if (!lane.in_flight) tell(lane, failure);
  const auto passed = [signal = signal_, number] {
    {
      std::lock_guard lock(signal->mutex);
      signal->passed.push_back(number);
    }
    signal->wake.notify_all();
  };
  if (error_of([&] { gpu_.notify(lane.stream, passed); })) passed();
}

void GroupDecoder::settle(Lane& lane) {
  bytes_ -= lane.bytes;
  lane.bytes = 0;
  if (lane.in_flight) {
    const auto failure = error_of([&] { lane.in_flight->finish(lane.images); });
    lane.in_flight = nullptr;
    tell(lane, failure);
  }
  lane.files.clear();
  lane.busy = false;
}

// Each job is told its share of the time.
void GroupDecoder::tell(Lane& lane, const std::optional<Error>& failure) {
  const int64_t begin = std::max(lane.begin, told_);  // groups under way at once share the time
  told_ = clock_ns();
  const int64_t time = told_ - begin;
  const auto total = static_cast<int64_t>(lane.images.size());
  size_t k = 0;
  const auto at = [&] { return begin + time * static_cast<int64_t>(k) / total; };
  std::vector<DecodeJob> group = std::move(lane.group);
  lane.group.clear();
  for (DecodeJob& job : group) {
    const int64_t from = at();
    for (DeviceDecode& image : job.images) image = std::move(lane.images[k++]);
    job.done(job, failure, from, at());
  }
  lane.images.clear();
}

}  // namespace penstock
