// SPDX-License-Identifier: Apache-2.0
// Decoders that stay open between batches, and the decoding of a batch's frames by all threads that come to help.
#pragma once
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>

#include "codecs/video/video_decoder.h"

namespace penstock {

// One frame of a batch.
struct WantedFrame {
  int32_t file = 0;
  int64_t frame = 0;
  int sample = 0;
  uint8_t* to = nullptr;
};

// Frames of one file that are decoded one after the other.
struct DecodeRun {
  int32_t file = 0;
  int64_t first_packet = 0, end_packet = 0;  // from the key packet to behind the last frame's
  std::vector<WantedFrame> wanted;           // in ascending order
  std::vector<int64_t> frames;               // each once
};
// Frames that lie near to each other in a file make one run: each packet is decoded once. Sorts `wanted`.
std::vector<DecodeRun> plan_runs(std::vector<WantedFrame> wanted, const std::function<const VideoFile&(int32_t)>& file);

// Open decoders of many files. A run goes on where a decoder stands, where that saves decoding from a key packet; it waits
// for one that is on the way there.
class VideoDecoders {
 public:
  using FileOf = std::function<std::shared_ptr<const VideoFile>(int32_t)>;
  VideoDecoders(FileOf file, bool ycbcr) : file_(std::move(file)), ycbcr_(ycbcr) {}
  // threads: of FFmpeg, for a decoder that is opened now.
  void decode(const DecodeRun& run, int threads, size_t most_open);

 private:
  struct Open {
    int32_t file;
    std::unique_ptr<VideoDecoder> decoder;
    bool busy = false;
    int64_t end_frame = -1, end_packet = -1;  // of the run that it is busy with
  };
  using Place = std::list<Open>::iterator;
  Place take(const DecodeRun& run, int threads, size_t most_open);
  void give_back(Place place, bool usable);

  FileOf file_;
  bool ycbcr_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::list<Open> open_;  // the one that was used last is last
  std::list<const DecodeRun*> waiting_;
};

}  // namespace penstock
