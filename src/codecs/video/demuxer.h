// SPDX-License-Identifier: Apache-2.0
// The compressed packets of a video's first or best video stream, by libavformat.
#pragma once
#include <memory>
#include <optional>

#include "codecs/video/ffmpeg_library.h"
#include "codecs/video/video_bytes.h"

namespace penstock {

class Demuxer {
 public:
  // `known`: the file was opened before and its parameters are known, so nothing is decoded to find them.
  Demuxer(std::shared_ptr<const VideoBytes> bytes, bool known, int64_t max_pixels);
  ~Demuxer();
  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;

  // The next packet of the stream; null at the end. It is valid until the next call.
  const ffmpeg::Packet* next();
  void put_back() { again_ = true; }  // next() returns the same packet again
  // Seeks to a packet at or before this time. False if the container cannot.
  bool seek(int64_t timestamp);

  const char* container() const;
  ffmpeg::Parameters* parameters() const { return parameters_; }
  ffmpeg::Rational time_base() const;
  double guessed_rate() const;  // frames per second as the headers say; 0: not known

 private:
  static int read_bytes(void* self, uint8_t* to, int length);
  static int64_t seek_bytes(void* self, int64_t offset, int whence);
  void close();
  void find_streams(int64_t max_pixels, const ffmpeg::Listener& heard);
  [[noreturn]] void fail_reading(const char* what, int code, const ffmpeg::Listener& heard);

  const ffmpeg::Library& lib_;
  std::shared_ptr<const VideoBytes> bytes_;
  int64_t at_ = 0;
  std::optional<Error> io_error_;
  ffmpeg::IoContext* io_ = nullptr;
  ffmpeg::FormatContext* context_ = nullptr;
  ffmpeg::Packet* packet_ = nullptr;
  ffmpeg::Stream* stream_ = nullptr;
  ffmpeg::Parameters* parameters_ = nullptr;
  int number_ = -1;
  bool again_ = false;
};

}  // namespace penstock
