// SPDX-License-Identifier: Apache-2.0
// A GPU's video engine, where its library has one.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/dtype.h"
#include "base/memory.h"
#include "codecs/video/video_file.h"

namespace penstock {

// Format of the frames: height x width x 3 without gaps, RGB; uint8, or float32 as byte * scale.
struct FrameType {
  DType dtype;
  float scale = 1;
};

// A position in a video from which the engine continues to decode. Used by one thread at a time.
class DeviceVideoDecoder {
 public:
  virtual ~DeviceVideoDecoder() = default;
  // Frames in ascending order without duplicates; target(k) is the device address of the k-th. Work that is enqueued on
  // the stream from now on sees them. The host waits for the engine; it waits for a stream only if all surfaces wait to
  // be read. Error (data) where a frame cannot be decoded exactly: it is then unknown which ones have been written.
  virtual void read(std::span<const int64_t> frames, const std::function<void*(size_t k)>& target,
                    StreamHandle stream) = 0;
  // See VideoDecoder.
  virtual bool continues_to(int64_t frame) const = 0;
  virtual int64_t last() const = 0;
};

// The additional interface of a GpuBackend that was built with video decoding.
class GpuVideo {
 public:
  virtual ~GpuVideo();
  // Why there is no engine; empty if there is one.
  virtual std::string why_no_video(int device) = 0;
  // Null where the engine does not accept this file (codec, kind of frames, size); `why` then says why.
  virtual std::unique_ptr<DeviceVideoDecoder> make_video_decoder(int device, std::shared_ptr<const VideoFile> file,
                                                                 FrameType type, std::string& why) = 0;
};

// The GpuVideo of gpu_library(), which must have a GPU. Without video decoding, one that says so.
GpuVideo& gpu_video();

}  // namespace penstock
