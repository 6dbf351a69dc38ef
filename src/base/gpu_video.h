// SPDX-License-Identifier: Apache-2.0
// A GPU's engine for videos, where its library has one.
#pragma once
#include "base/gpu.h"

namespace penstock {

class VideoFile;
enum class DType : int8_t;

// How frames are written: height x width x 3 without gaps, RGB, of uint8, or of float32: byte * scale.
struct FrameType {
  DType dtype;
  float scale = 1;
};

// One place in a video that the engine decodes, from which decoding goes on. Used by one thread at a time.
class DeviceVideoDecoder {
 public:
  virtual ~DeviceVideoDecoder() = default;
  // Frames in ascending order, none twice; target(k): where the k-th goes, on the device. What is enqueued on the
  // stream from now on sees them. The host waits for the engine, and for no stream but where all surfaces wait to be
  // read. Error (data) where a frame cannot be decoded exactly: it is not known then which ones have been written.
  virtual void read(std::span<const int64_t> frames, const std::function<void*(size_t k)>& target,
                    StreamHandle stream) = 0;
  // As of VideoDecoder.
  virtual bool continues_to(int64_t frame) const = 0;
  virtual int64_t last() const = 0;
};

// What a GpuBackend is besides, where it was built with videos.
class GpuVideo {
 public:
  virtual ~GpuVideo();
  // Why there is no engine; empty: there is one.
  virtual std::string why_no_video(int device) = 0;
  // Null where the engine does not take this file (codec, kind of frames, size); then `why` says so.
  virtual std::unique_ptr<DeviceVideoDecoder> make_video_decoder(int device, std::shared_ptr<const VideoFile> file,
                                                                 FrameType type, std::string& why) = 0;
};

// Of gpu_backend(), which has a GPU. Where it knows no videos, one that says so.
GpuVideo& gpu_video();

}  // namespace penstock
