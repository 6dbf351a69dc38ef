// SPDX-License-Identifier: Apache-2.0
// Decoders that stay open between batches, and the decoding of a batch's frames by all threads that help.
#pragma once
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>

#include "codecs/video/video_decoder.h"
#include "device/gpu_video.h"

namespace penstock {

// One frame of a batch.
struct WantedFrame {
  int32_t file = 0;
  int64_t frame = 0;
  int sample = 0;
  uint8_t* to = nullptr;
};

// Frames of one file that are decoded in sequence.
struct DecodeRun {
  int32_t file = 0;
  int64_t first_packet = 0, end_packet = 0;  // from the key packet to the end of the last frame
  std::vector<WantedFrame> wanted;           // in ascending order
  std::vector<int64_t> frames;               // without duplicates
};
// Frames that are close together in a file form one run: each packet is decoded once. Sorts `wanted`.
std::vector<DecodeRun> plan_runs(std::vector<WantedFrame> wanted, const std::function<const VideoFile&(int32_t)>& file);

// Open decoders of many files, on the CPU (VideoDecoder) or a GPU's engine (DeviceVideoDecoder). A run continues from a
// decoder's position if that saves decoding from a key packet; it waits for a decoder that is on the way there.
template <class Decoder> class OpenDecoders {
 public:
  using Make = std::function<std::unique_ptr<Decoder>(int32_t file, int threads)>;  // null: none for this file
  explicit OpenDecoders(Make make) : make_(std::move(make)) {}
  // Calls use(decoder) with the decoder for the run, or with null. threads: FFmpeg's, for a decoder that is opened
  // now. enough: when so many are open, a run waits for a busy one of its file instead of opening another.
  template <class Use>
  void with_decoder(const DecodeRun& run, int threads, size_t most_open, Use&& use, size_t enough = SIZE_MAX) {
    const Place place = take(run, threads, most_open, enough);
    try {
      use(place->decoder.get());
    } catch (...) {
      give_back(place, false);
      throw;
    }
    give_back(place, place->decoder != nullptr);
  }

 private:
  struct Open {
    int32_t file;
    int threads;
    std::unique_ptr<Decoder> decoder;
    bool busy = false;
    int64_t end_frame = -1, end_packet = -1;  // of the run that it is busy with
  };
  using Place = typename std::list<Open>::iterator;
  Place take(const DecodeRun& run, int threads, size_t most_open, size_t enough);
  void give_back(Place place, bool usable);

  Make make_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::list<Open> open_;  // least recently used first
  std::list<const DecodeRun*> waiting_;
};

// Decodes the run's frames into host memory.
void decode_run_on_host(OpenDecoders<VideoDecoder>& decoders, const DecodeRun& run, int threads, size_t most_open);

}  // namespace penstock
