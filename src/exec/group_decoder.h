// SPDX-License-Identifier: Apache-2.0
// One thread that hands images to a GPU's decoder: all that iterations have brought by the time that it can take more.
#pragma once
#include <array>
#include <condition_variable>
#include <deque>
#include <thread>

#include "codecs/image_decoder.h"
#include "exec/gpu_work.h"

namespace penstock {

// The images of one iteration.
struct DecodeJob {
  std::vector<DeviceDecode> images;
  std::shared_ptr<void> files;           // keeps files and headers that `images` point to
  StreamHandle stream = nullptr;         // `pixels` are taken on it, and read on it afterwards
  std::shared_ptr<DeviceEvent> taken;    // the pixels' memory is free to be written
  // Called by the decoding thread once what comes next on the stream sees the pixels; `images` have their errors.
  std::function<void(DecodeJob& job, std::optional<Error> failure, int64_t begin_ns, int64_t end_ns)> done;
};

class GroupDecoder {
 public:
  static constexpr size_t kMostImages = 2048;  // of one group

  GroupDecoder(GpuWork& gpu, std::unique_ptr<BatchDecoder> decoder, const DecodeParams& params);
  ~GroupDecoder();  // waits for the decoder; jobs that it has not begun are dropped
  const BatchDecoder& decoder() const { return *decoder_; }
  void add(DecodeJob job);

 private:
  // Two groups are under way at most: one in the engine, one that is handed over meanwhile.
  struct Lane {
    StreamHandle stream = nullptr;
    std::shared_ptr<DeviceEvent> passed;
    std::vector<std::shared_ptr<void>> files;  // until `passed`
  };
  // What the runtime's thread touches; outlives the decoder.
  struct Signal {
    std::mutex mutex;
    std::condition_variable wake;
    bool busy[2] = {};
  };
  void serve();
  void decode(std::vector<DecodeJob>& group, size_t lane);

  GpuWork& gpu_;
  std::unique_ptr<BatchDecoder> decoder_;
  const DecodeParams params_;
  std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();  // its mutex guards what follows
  std::deque<DecodeJob> jobs_;
  size_t images_ = 0;  // of jobs_
  std::array<Lane, 2> lanes_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace penstock
