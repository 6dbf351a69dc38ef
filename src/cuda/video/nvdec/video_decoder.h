// SPDX-License-Identifier: Apache-2.0
// A video through NVDEC: packets go to its parser, whose callbacks start decoding and say which frame comes next; each
// requested one becomes RGB at its destination.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <optional>

#include "codecs/video/bitstream_filter.h"
#include "codecs/video/frame_colors.h"
#include "codecs/video/packet_reader.h"
#include "cuda/video/frame_writer.h"
#include "cuda/video/nvdec/session.h"
#include "device/gpu_video.h"

namespace penstock::video_gpu {

// What all videos of a GPU share.
struct Engine {
  Driver& driver;
  int device;
  const Nvcuvid& lib;
  FrameWriter writer;
  SessionPool sessions;
};

// What the headers of a file say, in the engine's terms.
struct StreamKind {
  cudaVideoCodec codec = cudaVideoCodec_H264;
  int bits = 8;
};
// Why the engine does not accept the file; empty: it does, as `kind`. Uses the calling thread's device.
std::string declines(const Nvcuvid& lib, const VideoFile& file, StreamKind& kind);

constexpr int kMostSurfaces = 32;

class NvdecVideo final : public DeviceVideoDecoder {
 public:
  NvdecVideo(Engine& engine, std::shared_ptr<const VideoFile> file, StreamKind kind, FrameType type);
  ~NvdecVideo() override;
  void read(std::span<const int64_t> frames, const std::function<void*(size_t)>& target, StreamHandle stream) override;
  bool continues_to(int64_t frame) const override;
  int64_t last() const override { return last_; }

 private:
  // A frame that came out after the last requested one: its surface would be reused.
  struct Kept {
    std::shared_ptr<void> pixels;
    StreamHandle stream = nullptr;  // on which they were written
    std::shared_ptr<DeviceEvent> written;
  };
  // The read() in progress.
  struct Request {
    std::span<const int64_t> frames;
    const std::function<void*(size_t)>& target;
    StreamHandle stream;
    size_t done = 0;
    bool passed_by = false;  // a frame after the next requested one has come
  };

  template <class Step> int guarded(Step&& step);
  int begin_sequence(const CUVIDEOFORMAT& format);
  void begin_picture(CUVIDPICPARAMS& picture);
  int64_t time_of(int64_t packet) const;
  int64_t frame_of(const CUVIDPARSERDISPINFO& shown);
  void show(const CUVIDPARSERDISPINFO& shown);
  void write(const CUVIDPARSERDISPINFO& shown, void* to, StreamHandle stream);
  void feed();
  void jump_to(int64_t packet);
  bool decode_on(bool stay);
  void close_parser();
  void forget();
  size_t frame_bytes() const;

  Engine& engine_;
  std::shared_ptr<const VideoFile> file_;
  StreamKind kind_;
  FrameType type_;
  YuvRgb matrix_;
  PacketReader packets_;
  BitstreamFilter filter_;
  std::unique_ptr<Session> session_;
  CUvideoparser parser_ = nullptr;
  CUVIDEOFORMATEX headers_{};
  int64_t top_ = 0;             // of the picture in a surface
  std::vector<uint8_t> first_;  // headers and the packet after them

  int64_t start_ = -1;                              // the packet that decoding began at; -1: nowhere
  int64_t fed_ = 0;                                 // the packet that the parser gets next
  int64_t next_shown_ = 0;                          // the packet whose picture is shown next, if times do not say it
  std::array<int64_t, kMostSurfaces> packet_in_{};  // that the picture in a surface came with; -1: hidden, or shown
  int64_t last_ = -1;                               // the most recent frame
  std::deque<int64_t> given_;                       // packets whose pictures have not begun, if each has one
  bool reordered_ = false;                          // pictures are not shown in the order of their packets
  int64_t first_exact_ = 0;                         // the frame from which on all are exact
  bool ended_ = false;                              // the parser knows that nothing follows
  std::map<int64_t, Kept> kept_;
  Request* request_ = nullptr;
  std::optional<Error> fault_;  // from a callback
};

}  // namespace penstock::video_gpu
