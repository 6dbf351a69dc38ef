// SPDX-License-Identifier: Apache-2.0
// Converts packets to the form that hardware decoders need: H.264 and HEVC with start codes and with parameter sets in
// the stream. Uses the filters of libavcodec.
#pragma once
#include <span>

#include "codecs/video/video_file.h"

namespace penstock {

class BitstreamFilter {
 public:
  explicit BitstreamFilter(const VideoFile& file);  // Error (data) if the headers are damaged
  ~BitstreamFilter();
  BitstreamFilter(const BitstreamFilter&) = delete;
  BitstreamFilter& operator=(const BitstreamFilter&) = delete;

  void restart();  // the next packet does not follow the previous one
  // Consumes the packet's bytes; the output is valid until the next call. Error (data) if the packet is damaged.
  std::span<const uint8_t> operator()(const ffmpeg::Packet* packet);
  // What the decoder must know before the first packet: the parameter sets, in the same form as the packets.
  std::span<const uint8_t> headers() const { return headers_; }

 private:
  void close();
  const ffmpeg::Library& lib_;
  ffmpeg::Filter* filter_ = nullptr;  // null: packets do not change
  ffmpeg::Packet* packet_ = nullptr;
  std::vector<uint8_t> headers_;
};

}  // namespace penstock
