// SPDX-License-Identifier: Apache-2.0
// A video: what its headers say and where its frames are.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codecs/video/ffmpeg_library.h"
#include "codecs/video/video_bytes.h"

namespace penstock {

constexpr int64_t kMostVideoPixels = 178956970;  // per frame; checked before memory is allocated

// Frames are numbered from 0 in the order in which they are shown. To make the index, all packets are read but not
// decoded. Only if a container has no presentation times (H.264 with B-frames in AVI) the file is decoded once.
class VideoFile {
 public:
  // Error (data) if it is not a video, has no frames, or is larger than max_pixels.
  // `bytes` opens the file's bytes, now and again for each decoder.
  using OpenBytes = std::function<std::shared_ptr<const VideoBytes>()>;
  static std::shared_ptr<const VideoFile> open(OpenBytes bytes, int64_t max_pixels = kMostVideoPixels) {
    return open(std::move(bytes), max_pixels, {}, {});
  }
  // With the result of index() for the same file: if it matches, the packets are not read.
  struct Stamp {
    int64_t bytes = 0, modified_ns = 0;
  };
  static std::shared_ptr<const VideoFile> open(OpenBytes bytes, int64_t max_pixels, std::span<const uint8_t> index,
                                               const Stamp& stamp);
  std::vector<uint8_t> index(const Stamp& stamp) const;
  bool indexed_before() const { return indexed_before_; }
  // The same file, whose bytes are opened elsewhere.
  std::shared_ptr<const VideoFile> with_bytes(OpenBytes bytes) const;
  ~VideoFile();
  VideoFile(const VideoFile&) = delete;
  VideoFile& operator=(const VideoFile&) = delete;

  int width() const { return width_; }
  int height() const { return height_; }
  int64_t frames() const { return static_cast<int64_t>(shown_.size()); }
  double rate() const { return rate_; }  // frames per second, on average
  bool constant_rate() const { return constant_; }
  double seconds(int64_t frame) const;  // when it is shown, in the container's time
  const std::string& codec() const { return codec_; }
  const std::string& container() const { return container_; }

  // For the decoder.
  struct Packet {           // in the order of decoding
    int64_t pts;            // the order of frames
    int64_t seek_pts, dts;  // as in the container
    int64_t position;       // in the file; -1: not known
    int32_t size;
    bool key;
    int64_t frame;  // -1: it is not shown
  };
  const std::vector<Packet>& packets() const { return packets_; }
  // An Ogg file of several streams, one after the other. From the second stream on they begin with headers that come as
  // packets; decoding can begin only at these.
  bool chained() const { return chained_; }
  enum class Header { none, decoded, unneeded };  // unneeded: a decoder does not know it
  Header header_in(const ffmpeg::Packet& p) const;
  int64_t packet_of(int64_t frame) const { return shown_[frame]; }
  // The packet at which to start decoding so that the frame is exact: the last key packet before it that is not shown
  // after it.
  int64_t start_of(int64_t frame) const;
  // The key packet before `packet`; 0 if there is none.
  int64_t key_before(int64_t packet) const;
  std::shared_ptr<const VideoBytes> bytes() const { return bytes_(); }
  ffmpeg::Parameters* parameters() const { return parameters_; }
  int64_t max_pixels() const { return max_pixels_; }
  size_t index_bytes() const { return packets_.size() * (sizeof(Packet) + sizeof(int64_t)); }  // estimate of its memory

 private:
  VideoFile() = default;
  void take_parameters(const ffmpeg::Parameters* parameters);
  std::vector<uint8_t> index_head(const Stamp& stamp) const;
  bool take_index(std::span<const uint8_t> bytes, const Stamp& stamp);
  void read_packets(class Demuxer& demuxer);
  void order_by_time();
  void order_by_decoding();
  void find_rate(double guessed);

  OpenBytes bytes_;
  ffmpeg::Parameters* parameters_ = nullptr;
  int width_ = 0, height_ = 0;
  double rate_ = 0;
  bool constant_ = true, timed_ = true;  // timed: the container has presentation times
  bool indexed_before_ = false, chained_ = false;
  ffmpeg::Rational time_base_;
  std::string codec_, container_;
  int64_t max_pixels_ = 0;
  std::vector<Packet> packets_;
  std::vector<int64_t> shown_, keys_;  // packets
};

}  // namespace penstock
