// SPDX-License-Identifier: Apache-2.0
// The packets of a video in the order of its index, from any of them on: the input of all its decoders.
#pragma once
#include <memory>

#include "codecs/video/demuxer.h"
#include "codecs/video/video_file.h"

namespace penstock {

class PacketReader {
 public:
  static constexpr int64_t kReadThrough = 16;  // packets that are read rather than skipped by a seek

  explicit PacketReader(const VideoFile& file) : file_(file) {}
  void go_to(int64_t packet);    // read() returns it next
  const ffmpeg::Packet* read();  // Error (data) if it is not the one in the index
  int64_t next() const { return at_; }

 private:
  void open();
  bool arrive(int64_t packet);
  int64_t find(const ffmpeg::Packet& p, int64_t near) const;

  const VideoFile& file_;
  std::unique_ptr<Demuxer> demuxer_;
  int64_t at_ = 0;  // the packet that the demuxer returns next
};

}  // namespace penstock
