// SPDX-License-Identifier: Apache-2.0
// A decoder of the engine and its surfaces. It is created once and reconfigured for other videos, as far as its sizes
// allow.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/runtime/driver.h"
#include "cuda/video/nvdec/nvcuvid_library.h"

namespace penstock::video_gpu {

// The configuration of a decoder. A surface contains the whole coded picture: nothing is cropped or scaled.
struct SessionShape {
  cudaVideoCodec codec = cudaVideoCodec_H264;
  unsigned width = 0, height = 0;  // coded
  int bits = 8;
  int surfaces = 0;  // for decoding
  bool operator==(const SessionShape&) const = default;
};

class Session {
 public:
  static constexpr int kMapped = 4;  // surfaces that may be read at once

  // Throws Error if the engine refuses. Uses the calling thread's device, here and in all functions below.
  Session(Driver& driver, int device, const Nvcuvid& lib, const SessionShape& shape);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const SessionShape& shape() const { return shape_; }  // may have more surfaces than requested
  bool fits(const SessionShape& shape) const;           // reconfigure() may be tried
  bool reconfigure(const SessionShape& shape);          // in a parser's sequence callback; false: create another one
  void decode(CUVIDPICPARAMS* picture);

  struct Surface {
    const uint8_t* data = nullptr;  // NV12 or P016; the rows of chroma follow shape().height rows of luma
    unsigned pitch = 0;
  };
  // Waits for the picture to be decoded; its data may be read on the stream. If all surfaces are mapped, waits until
  // the one that was mapped first has been read. Error (data) if the engine found damage.
  Surface map(const CUVIDPARSERDISPINFO& shown, StreamHandle stream);
  // Error (data) if the engine reports one of the finished pictures since the last call as damaged.
  void check_pictures();
  void forget_pictures() { unchecked_.clear(); }
  // The work that is on the stream now reads the surface that was mapped last; then it is free.
  void release(StreamHandle stream);

 private:
  struct Mapped {
    unsigned long long surface;
    std::shared_ptr<DeviceEvent> read;  // null: not enqueued yet
  };
  bool is_checked(int index);
  void unmap_first();
  void unmap_all();

  Driver& driver_;
  int device_;
  const Nvcuvid& lib_;
  SessionShape shape_;
  unsigned most_width_, most_height_;
  CUvideodecoder decoder_ = nullptr;
  std::deque<Mapped> mapped_;
  std::vector<int> unchecked_;  // surfaces
};

// Idle sessions of one GPU.
class SessionPool {
 public:
  SessionPool(Driver& driver, int device, const Nvcuvid& lib) : driver_(driver), device_(device), lib_(lib) {}
  // Call it in a parser's sequence callback.
  std::unique_ptr<Session> take(const SessionShape& shape);
  void give_back(std::unique_ptr<Session> session);

 private:
  static constexpr size_t kMostIdle = 8;
  Driver& driver_;
  int device_;
  const Nvcuvid& lib_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Session>> idle_;
};

}  // namespace penstock::video_gpu
