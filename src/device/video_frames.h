// SPDX-License-Identifier: Apache-2.0
// Frames of a video in a GPU's memory: decoded by its engine, or, if the engine does not accept the file or a frame, by
// the CPU and copied.
#pragma once
#include "base/device_runtime.h"
#include "codecs/video/video_decoder.h"
#include "device/gpu_video.h"

namespace penstock {

class DeviceFrames {
 public:
  DeviceFrames(DeviceRuntime& runtime, int device, StreamHandle stream, FrameType type)
      : runtime_(runtime), device_(device), stream_(stream), type_(type) {}

  // Decodes the wanted frames of the file, each to its address; the same frame may be wanted several times in a row.
  // `decoder`: the engine's, null if it does not accept the file. `on_host` decodes frames, each once and in ascending
  // order, to host memory as VideoDecoder::read does. The work is enqueued on the stream; errors are those of on_host.
  struct Wanted {
    int64_t frame;
    void* to;
  };
  using DecodeOnHost = std::function<void(std::span<const int64_t> frames, const FrameTarget& target)>;
  // False: the engine could not decode them, and the host did.
  bool decode(const VideoFile& file, std::span<const Wanted> wanted, DeviceVideoDecoder* decoder,
              const DecodeOnHost& on_host);
  // height x width x 3 values, one or three different ones.
  void fill(std::span<const int64_t> values, int64_t pixels, void* to);
  size_t bytes_of(int64_t pixels) const;

 private:
  void upload(const uint8_t* pixels, int64_t count, void* to);
  DeviceRuntime& runtime_;
  int device_;
  StreamHandle stream_;
  FrameType type_;
};

// decode_frames() (codecs/video/frame_choice.h) to memory of a GPU, by an engine's decoder that is made for it.
void decode_frames_to_device(const std::shared_ptr<const VideoFile>& file, std::span<const int64_t> frames,
                             std::span<const int64_t> fill_value, int threads, int device, StreamHandle stream,
                             void* out);

// Gives one notice per reason that the engine does not decode; `why` as from GpuVideo::make_video_decoder.
void warn_declined(const std::string& why);

}  // namespace penstock
