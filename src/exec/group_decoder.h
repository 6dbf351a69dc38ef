// SPDX-License-Identifier: Apache-2.0
// One thread that hands images to a GPU's decoder: all that iterations have brought by the time that it can take more.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <thread>

#include "codecs/image_decoder.h"
#include "exec/gpu_work.h"

namespace penstock {

// The images of one iteration.
struct DecodeJob {
  std::vector<DeviceDecode> images;
  std::shared_ptr<void> files;         // keeps files and headers that `images` point to
  StreamHandle stream = nullptr;       // `pixels` are taken on it, and read on it afterwards
  std::shared_ptr<DeviceEvent> taken;  // the pixels' memory is free to be written
  size_t bytes = 0;                    // set by add(): what the decoder will take of the device, about
  // Called by the decoding thread once what comes next on the stream sees the pixels and all damage is known; `images`
  // have their errors.
  std::function<void(DecodeJob& job, std::optional<Error> failure, int64_t begin_ns, int64_t end_ns)> done;
};

class GroupDecoder {
 public:
  // Of one group. Where several are under way at once none needs to be large: what is decoded early goes on early, and
  // gives its memory back. Bytes are the decoder's own.
  static constexpr size_t kMostImages = 2048, kMostBytesOfSeveral = size_t{1} << 30;

  // `most`: images that will be under way and waiting at once.
  GroupDecoder(GpuWork& gpu, std::unique_ptr<BatchDecoder> decoder, const DecodeParams& params, int64_t most);
  ~GroupDecoder();  // waits for the decoder; jobs that it has not begun or not finished are dropped
  const BatchDecoder& decoder() const { return *decoder_; }
  void add(DecodeJob job);
  // On the device, of the decoder itself: what it will take for jobs that wait, and what it has taken as long as its
  // work is not known to be done.
  size_t bytes_in_use() const { return bytes_; }

 private:
  // A group under way. The decoding thread alone uses it.
  struct Lane {
    StreamHandle stream = nullptr;
    bool busy = false;
    int64_t begin = 0;  // in ns
    std::vector<DecodeJob> group;
    std::vector<DeviceDecode> images;            // of the whole group
    std::unique_ptr<DecodesInFlight> in_flight;  // null: the group has been told
    size_t bytes = 0;                            // of the decoder's own memory
    std::vector<std::shared_ptr<void>> files;    // until the stream has passed
  };
  // What the runtime's thread touches; outlives the decoder.
  struct Signal {
    std::mutex mutex;
    std::condition_variable wake;
    std::vector<size_t> passed;  // lanes
  };
  void serve();
  void take_group(Lane& lane);  // under the mutex
  void decode(size_t lane);
  void settle(Lane& lane);  // its stream has passed
  void tell(Lane& lane, const std::optional<Error>& failure);

  GpuWork& gpu_;
  std::unique_ptr<BatchDecoder> decoder_;
  const DecodeParams params_;
  size_t enough_ = 1;  // images that make a group, where others are under way
  size_t most_images_ = kMostImages, most_bytes_ = SIZE_MAX;
  int64_t told_ = 0;                                             // when the last group was told
  std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();  // its mutex guards jobs_, images_ and stop_
  std::deque<DecodeJob> jobs_;
  size_t images_ = 0;  // of jobs_
  std::vector<Lane> lanes_;
  bool stop_ = false;
  std::atomic<size_t> bytes_{0};  // of all lanes
  std::thread thread_;
};

}  // namespace penstock
