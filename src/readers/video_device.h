// SPDX-License-Identifier: Apache-2.0
// A reader's videos on a GPU. Its own threads, not the pipeline's, wait for the engine and decode several videos at
// once.
#pragma once
#include <set>
#include <thread>

#include "device/video_frames.h"
#include "readers/gpu_writer.h"
#include "readers/video_decoders.h"

namespace penstock {

class VideosOnGpu {
 public:
  using FileOf = std::function<std::shared_ptr<const VideoFile>(int32_t)>;
  // `host`: the decoders for what the engine does not accept; ycbcr: the engine gives only RGB, so it gets nothing.
  VideosOnGpu(const GpuTarget& gpu, FileOf file, FrameType type, bool ycbcr, OpenDecoders<VideoDecoder>& host);
  ~VideosOnGpu();  // after all tasks; drops those that have not begun

  const GpuTarget& gpu() const { return gpu_; }
  DeviceFrames frames(StreamHandle stream) const { return {gpu_.runtime, gpu_.device, stream, type_}; }
  // Decodes the run's frames to their places on the device.
  void decode(const DecodeRun& run, StreamHandle stream);
  void enqueue(int32_t file, std::function<void()> task);  // must not throw

 private:
  void serve();
  const GpuTarget gpu_;
  FileOf file_;
  FrameType type_;
  OpenDecoders<VideoDecoder>& host_;
  OpenDecoders<DeviceVideoDecoder> decoders_;
  std::mutex mutex_;
  std::condition_variable wake_;
  struct Task {
    int32_t file;
    std::function<void()> run;
  };
  std::deque<Task> tasks_;
  std::multiset<int32_t> active_;  // files of tasks that have begun
  size_t idle_ = 0;                // threads
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace penstock
