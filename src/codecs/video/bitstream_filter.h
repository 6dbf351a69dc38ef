// SPDX-License-Identifier: Apache-2.0
// Packets as decoders in hardware want them: H.264 and HEVC with start codes and parameter sets in the stream, by the
// filters of libavcodec.
#pragma once
#include <span>

#include "codecs/video/video_file.h"

namespace penstock {

class BitstreamFilter {
 public:
  explicit BitstreamFilter(const VideoFile& file);  // Error (data) where the headers are damaged
  ~BitstreamFilter();
  BitstreamFilter(const BitstreamFilter&) = delete;
  BitstreamFilter& operator=(const BitstreamFilter&) = delete;

  void restart();  // the next packet does not follow the one before
  // Takes the packet's bytes; what comes out is valid until the next call. Error (data) where it is damaged.
  std::span<const uint8_t> operator()(const ffmpeg::Packet* packet);
  // What the decoder must know before the first packet: parameter sets, as the packets have them.
  std::span<const uint8_t> headers() const { return headers_; }

 private:
  void close();
  const ffmpeg::Library& lib_;
  ffmpeg::Filter* filter_ = nullptr;  // null: packets stay as they are
  ffmpeg::Packet* packet_ = nullptr;
  std::vector<uint8_t> headers_;
};

}  // namespace penstock
