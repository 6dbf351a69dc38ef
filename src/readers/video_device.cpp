// SPDX-License-Identifier: Apache-2.0
#include "readers/video_device.h"

#include <algorithm>

#include "base/begin_thread.h"
#include "base/error_of.h"

namespace penstock {
namespace {

constexpr size_t kAtOnce = 16;                     // videos; GPUs have up to 8 engines, each of which needs two
constexpr size_t kEnough = 14;                     // open decoders
constexpr size_t kSurfaceBytes = size_t{4} << 30;  // of open decoders, approximately
constexpr size_t kSurfaces = 20;                   // per decoder

}  // namespace

VideosOnGpu::VideosOnGpu(const GpuTarget& gpu, FileOf file, FrameType type, bool ycbcr,
                         OpenDecoders<VideoDecoder>& host)
    : gpu_(gpu), file_(std::move(file)), type_(type), host_(host), decoders_([this, ycbcr](int32_t f, int) {
        std::string why;
        std::unique_ptr<DeviceVideoDecoder> made;
        if (ycbcr) why = "YCbCr was requested";
        else if (const auto error =
                     error_of([&] { made = gpu_video().make_video_decoder(gpu_.device, file_(f), type_, why); }))
          why = error->what();
        if (!made) warn_declined(why);
        return made;
      }) {}

VideosOnGpu::~VideosOnGpu() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (auto& t : threads_) t.join();
}

void VideosOnGpu::enqueue(int32_t file, std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back({file, std::move(task)});
  if (threads_.size() < kAtOnce && idle_ < tasks_.size()) {
    try {
      threads_.push_back(begin_thread([this] { serve(); }));
    } catch (...) {  // the system refuses another thread
      if (threads_.empty()) throw;
    }
  }
  wake_.notify_one();
}

void VideosOnGpu::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
    --idle_;
    if (stop_) return;
    // A task of a file that is being decoded might have to wait for its decoder.
    auto next = std::find_if(tasks_.begin(), tasks_.end(), [&](const Task& t) { return !active_.count(t.file); });
    if (next == tasks_.end()) next = tasks_.begin();
    const Task task = std::move(*next);
    tasks_.erase(next);
    const auto active = active_.insert(task.file);
    lock.unlock();
    task.run();
    lock.lock();
    active_.erase(active);
  }
}

void VideosOnGpu::decode(const DecodeRun& run, StreamHandle stream) {
  const auto file = file_(run.file);
  const size_t frame = static_cast<size_t>(file->width()) * static_cast<size_t>(file->height()) * 3 / 2;
  const size_t most = std::clamp<size_t>(kSurfaceBytes / (frame * kSurfaces), kAtOnce, 64);
  std::vector<DeviceFrames::Wanted> wanted;
  for (const WantedFrame& w : run.wanted) wanted.push_back({w.frame, w.to});
  DeviceFrames there = frames(stream);
  const auto on_host = [&](std::span<const int64_t> all, const FrameTarget& target) {
    host_.with_decoder(run, 1, kAtOnce, [&](VideoDecoder* decoder) { decoder->read(all, target); });
  };
  // More decoders would keep no engine busier, and making one takes as long as 100 frames.
  decoders_.with_decoder(
      run, 1, most, [&](DeviceVideoDecoder* decoder) { there.decode(*file, wanted, decoder, on_host); }, kEnough);
}

}  // namespace penstock
