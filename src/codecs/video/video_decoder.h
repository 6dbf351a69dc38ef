// SPDX-License-Identifier: Apache-2.0
// Frames of a video, by libavcodec, as RGB by libswscale.
#pragma once
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "codecs/video/packet_reader.h"
#include "codecs/video/video_file.h"

namespace penstock {

// The destination of the k-th requested frame: height x width x 3 bytes without gaps; null: skip it.
using FrameTarget = std::function<uint8_t*(size_t k)>;

// A position in a video from which decoding continues. Used by one thread at a time.
class VideoDecoder {
 public:
  // threads: FFmpeg's, in addition to the caller's. ycbcr: Y, Cb, Cr of BT.601 in studio range instead of RGB.
  VideoDecoder(std::shared_ptr<const VideoFile> file, int threads, bool ycbcr = false);
  ~VideoDecoder();
  VideoDecoder(const VideoDecoder&) = delete;
  VideoDecoder& operator=(const VideoDecoder&) = delete;

  // Frames in ascending order without duplicates. RGB is what `ffmpeg -pix_fmt rgb24` writes: libswscale's bicubic
  // conversion by the stream's matrix (BT.601 if it states none) and range. Error (data) with frame and byte if one
  // cannot be decoded exactly.
  void read(std::span<const int64_t> frames, const FrameTarget& target);

  // Whether decoding can continue from its position to this frame, without a seek back to a key packet.
  bool continues_to(int64_t frame) const;
  const VideoFile& file() const { return *file_; }
  int threads() const { return threads_; }
  int64_t last() const { return last_; }  // the most recent frame; -1: none

 private:
  friend std::vector<int64_t> order_of_decoded_frames(const VideoFile& file);
  struct Fault {
    std::string why;
    int64_t packet = -1;
  };
  VideoDecoder(const VideoFile& file, int threads);  // for a file that is being opened
  void open_codec();
  void close();
  void jump_to(int64_t packet);
  void feed(int64_t last_wanted, bool wanted);
  int64_t next_frame(std::span<const int64_t> wanted);  // the packet that it came from; -1: none is left
  void convert(uint8_t* to, int64_t frame);
  void set_option(const char* name, int64_t value);
  bool decode_to(std::span<const int64_t> frames, size_t& done, bool stay, const FrameTarget& target);

  const ffmpeg::Library& lib_;
  std::shared_ptr<const VideoFile> owner_;
  const VideoFile* file_;
  int threads_;
  PacketReader packets_;
  ffmpeg::CodecContext* codec_ = nullptr;
  ffmpeg::Frame* frame_ = nullptr;
  ffmpeg::Scaler* scaler_ = nullptr;
  int scaler_format_ = -1;
  int64_t scaler_matrix_ = -1, scaler_range_ = -1;
  std::vector<uint8_t> rows_;  // with slack after each row; for YCbCr three planes

  int64_t start_ = -1;  // the packet that decoding began at; -1: nowhere
  int64_t fed_ = 0;     // the packet that the codec gets next
  int64_t last_ = -1;   // the most recent frame
  // Frames of H.264 that were fed and have not come out. If the slices of a picture have damaged headers, the decoder
  // omits it without an error, and uses another one in its place if later pictures refer to it.
  std::set<int64_t> expected_;
  bool drained_ = false, skips_ = false, ycbcr_ = false;
  std::optional<Fault> fault_;
};

// The packets of the frames in the order of a full decode, for containers without times.
std::vector<int64_t> order_of_decoded_frames(const VideoFile& file);

}  // namespace penstock
