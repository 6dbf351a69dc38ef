// SPDX-License-Identifier: Apache-2.0
// Frames of a video in a GPU's memory: by its engine, or, where that does not take the file or a frame, by the CPU and
// a copy.
#pragma once
#include "base/device_runtime.h"
#include "codecs/video/video_decoder.h"
#include "device/gpu_video.h"

namespace penstock {

class DeviceFrames {
 public:
  DeviceFrames(DeviceRuntime& runtime, int device, StreamHandle stream, FrameType type)
      : runtime_(runtime), device_(device), stream_(stream), type_(type) {}

  // `count` frames of the file, one place each, to `to(k)`; the same frame may be wanted several times, one after the
  // other. `decoder`: the engine's, null where it does not take the file. `on_host` decodes frames, each once and in
  // ascending order, into host memory as VideoDecoder::read does. Enqueued on the stream; errors are those of on_host.
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

// decode_frames() (codecs/video/frame_choice.h) into memory of a GPU, by an engine's decoder that is made for it.
void decode_frames_to_device(const std::shared_ptr<const VideoFile>& file, std::span<const int64_t> frames,
                             std::span<const int64_t> fill_value, int threads, int device, StreamHandle stream,
                             void* out);

// Says once for each reason that the engine does not decode; `why` as GpuVideo::make_video_decoder gives it.
void tell_declined(const std::string& why);

}  // namespace penstock
