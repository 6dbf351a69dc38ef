// SPDX-License-Identifier: Apache-2.0
// Decoders of images on a GPU: many files at once.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/memory.h"
#include "codecs/image_decoder.h"

namespace penstock {

// One image of a group that is decoded together: a file in host memory, dense HWC pixels on the device.
struct DeviceDecode {
  std::span<const uint8_t> file;
  const ImageInfo* info = nullptr;
  void* pixels = nullptr;  // height * width * channels of the params' type, uint8; of `region` if one is set
  std::optional<Error> error;
  // The part of the picture to decode, in its coordinates after orientation; height 0: all of it. Only for decoders
  // that accept regions.
  struct {
    int64_t y = 0, x = 0, height = 0, width = 0;
  } region = {};
  ParsedHeader header = {};  // what declines() kept of this file; empty: decode() reads it again
};
// Images whose decoding is enqueued. Damage shows only while they are decoded.
class DecodesInFlight {
 public:
  virtual ~DecodesInFlight() = default;
  // Call it when the stream has passed. Sets `error` of the damaged images (their pixels are unspecified); the caller
  // decodes those on the CPU. `images`: as given to decode(), in the same order.
  virtual void finish(std::span<DeviceDecode> images) = 0;
  // Device memory that the decoder holds for itself until the stream has passed.
  virtual size_t device_bytes() const { return 0; }
};
// "automatic": the first of the others that this GPU has.
enum class DecodeEngine : int8_t { automatic, cuda, hardware };
class BatchDecoder {
 public:
  virtual ~BatchDecoder() = default;
  virtual const char* name() const = 0;
  // Why the decoder does not accept this file (the caller decodes it on the CPU); empty: it does. `read`: what
  // probe_image() kept of it. `kept`, if not null, may get what decode() needs of an accepted file. Thread-safe.
  virtual std::string declines(std::span<const uint8_t> file, const ImageInfo& info, const DecodeParams& params,
                               const ParsedHeader& read, ParsedHeader* kept) const = 0;
  virtual int best_group() const = 0;      // images that keep it busy
  virtual int lanes() const { return 2; }  // groups in flight at once, each on its own stream
  virtual bool takes_regions() const { return false; }
  // Estimate of the device bytes that decode() takes for this image in addition to its pixels.
  virtual size_t device_bytes(const DeviceDecode&) const { return 0; }
  // Decodes on the stream, in stream order. The host may wait for the engine; one call at a time. The files must live
  // until `stream` has passed. Files that lie close together in one block of pinned memory are uploaded in one copy.
  // Returns null if all errors are already known. The result must not outlive the decoder or
  // the files of `images`.
  virtual std::unique_ptr<DecodesInFlight> decode(std::span<DeviceDecode> images, const DecodeParams& params,
                                                  StreamHandle stream) = 0;
};

}  // namespace penstock
