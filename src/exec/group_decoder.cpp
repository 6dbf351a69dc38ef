// SPDX-License-Identifier: Apache-2.0
#include "exec/group_decoder.h"

#include <algorithm>

#include "base/clock.h"

namespace penstock {

GroupDecoder::GroupDecoder(GpuWork& gpu, std::unique_ptr<BatchDecoder> decoder, const DecodeParams& params)
    : gpu_(gpu), decoder_(std::move(decoder)), params_(params) {
  for (Lane& lane : lanes_) lane.stream = gpu_.own_stream();
  thread_ = std::thread([this] { serve(); });
}

GroupDecoder::~GroupDecoder() {
  {
    std::lock_guard lock(signal_->mutex);
    stop_ = true;
  }
  signal_->wake.notify_all();
  thread_.join();
  for (Lane& lane : lanes_)
    error_of([&] { gpu_.runtime().synchronize(gpu_.device(), lane.stream); });  // before its files go
}

void GroupDecoder::add(DecodeJob job) {
  {
    std::lock_guard lock(signal_->mutex);
    images_ += job.images.size();
    jobs_.push_back(std::move(job));
  }
  signal_->wake.notify_all();
}

void GroupDecoder::serve() {
  const auto enough = static_cast<size_t>(std::max(1, decoder_->best_group()));
  std::unique_lock lock(signal_->mutex);
  for (size_t lane = 0;; lane = 1 - lane) {
    bool &busy = signal_->busy[lane], &other = signal_->busy[1 - lane];
    // While the other group keeps the engine busy, this one may grow.
    signal_->wake.wait(lock, [&] { return stop_ || (!jobs_.empty() && !busy && (!other || images_ >= enough)); });
    if (stop_) return;
    std::vector<DecodeJob> group;
    size_t images = 0;
    while (!jobs_.empty() && (group.empty() || images + jobs_.front().images.size() <= kMostImages)) {
      images += jobs_.front().images.size();
      group.push_back(std::move(jobs_.front()));
      jobs_.pop_front();
    }
    images_ -= images;
    busy = true;
    lock.unlock();
    decode(group, lane);
    lock.lock();
  }
}

void GroupDecoder::decode(std::vector<DecodeJob>& group, size_t number) {
  Lane& lane = lanes_[number];
  const int device = gpu_.device();
  DeviceRuntime& runtime = gpu_.runtime();
  const int64_t begin = clock_ns();
  lane.files.clear();
  for (DecodeJob& job : group) lane.files.push_back(job.files);
  std::vector<DeviceDecode> images;
  for (DecodeJob& job : group) images.insert(images.end(), job.images.begin(), job.images.end());
  auto failure = error_of([&] {
    for (DecodeJob& job : group) runtime.wait(device, lane.stream, *job.taken);
    decoder_->decode(images, params_, lane.stream);
    lane.passed = runtime.record(device, lane.stream);
    for (DecodeJob& job : group) runtime.wait(device, job.stream, *lane.passed);
  });
  // Each job is told its share of the time.
  const int64_t time = clock_ns() - begin;
  size_t k = 0;
  const auto at = [&] { return begin + time * static_cast<int64_t>(k) / static_cast<int64_t>(images.size()); };
  for (DecodeJob& job : group) {
    const int64_t from = at();
    for (DeviceDecode& image : job.images) image.error = std::move(images[k++].error);
    job.done(job, failure, from, at());
  }
  const auto passed = [signal = signal_, number] {
    {
      std::lock_guard lock(signal->mutex);
      signal->busy[number] = false;
    }
    signal->wake.notify_all();
  };
  if (error_of([&] { gpu_.notify(lane.stream, passed); })) passed();
}

}  // namespace penstock
