// SPDX-License-Identifier: Apache-2.0
// A thread that passes images to a GPU's decoder: all that iterations have submitted when the decoder can accept more.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <thread>

#include "codecs/image_decoder.h"
#include "device/batch_decoder.h"
#include "exec/gpu_work.h"

namespace penstock {

// The images of one iteration.
struct DecodeJob {
  std::vector<DeviceDecode> images;
  std::shared_ptr<void> files;         // keeps files and headers that `images` point to alive
  StreamHandle stream = nullptr;       // `pixels` are allocated on it, and read on it afterwards
  std::shared_ptr<DeviceEvent> taken;  // the pixels' memory is free to be written
  size_t bytes = 0;                    // set by add(): an estimate of the device memory that the decoder will take
  // The decoding thread calls it when later work on the stream will see the pixels and all damage is known; `images`
  // have their errors.
  std::function<void(DecodeJob& job, std::optional<Error> failure, int64_t begin_ns, int64_t end_ns)> done;
};

class GroupDecoder {
 public:
  // Limits of one group. If several are in flight, none needs to be large: what is decoded early can continue early,
  // and frees its memory. Bytes are the decoder's own.
  static constexpr size_t kMostImages = 2048, kMostBytesOfSeveral = size_t{1} << 30;

  // `most`: images that are in flight or waiting at once.
  GroupDecoder(GpuWork& gpu, std::unique_ptr<BatchDecoder> decoder, const DecodeParams& params, int64_t most);
  ~GroupDecoder();  // waits for the decoder; drops jobs that are not started or not finished
  const BatchDecoder& decoder() const { return *decoder_; }
  void add(DecodeJob job);
  // Device memory of the decoder itself: an estimate for waiting jobs, and what it holds until its
  // work is known to be done.
  size_t bytes_in_use() const { return bytes_; }

 private:
  // A group in flight. Only the decoding thread uses it.
  struct Slot {
    StreamHandle stream = nullptr;
    bool busy = false;
    int64_t begin = 0;  // in ns
    std::vector<DecodeJob> group;
    std::vector<DeviceDecode> images;            // of the whole group
    std::unique_ptr<DecodesInFlight> in_flight;  // null: the group has been reported
    size_t bytes = 0;                            // of the decoder's own memory
    std::vector<std::shared_ptr<void>> files;    // until the stream has passed
  };
  // Shared with the runtime's thread; outlives the decoder.
  struct Signal {
    std::mutex mutex;
    std::condition_variable wake;
    std::vector<size_t> passed;  // lanes
  };
  void serve();
  void take_group(Slot& slot);  // requires the mutex
  void decode(size_t slot);
  void settle(Slot& slot);  // its stream has passed
  void tell(Slot& slot, const std::optional<Error>& failure);

  GpuWork& gpu_;
  std::unique_ptr<BatchDecoder> decoder_;
  const DecodeParams params_;
  size_t enough_ = 1;  // minimum images of a group while others are in flight
  size_t most_images_ = kMostImages, most_bytes_ = SIZE_MAX;
  int64_t told_ = 0;                                             // when the last group was reported
  std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();  // its mutex guards jobs_, images_ and stop_
  std::deque<DecodeJob> jobs_;
  size_t images_ = 0;  // of jobs_
  std::vector<Slot> slots_;
  bool stop_ = false;
  std::atomic<size_t> bytes_{0};  // of all lanes
  std::thread thread_;
};

}  // namespace penstock
