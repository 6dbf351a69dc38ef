// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <deque>

#include "codecs/video/ffmpeg_library.h"
#include "emulated_gpu/nvcuvid/stand_in.h"

namespace stand_in {
namespace {

using namespace penstock::ffmpeg;

constexpr int kYuv420 = 0, kYuvJ420 = 12;

const Codec* find_codec(cudaVideoCodec kind) {
  const char* name = kind == cudaVideoCodec_H264   ? "h264"
                     : kind == cudaVideoCodec_HEVC ? "hevc"
                     : kind == cudaVideoCodec_VP8  ? "vp8"
                     : kind == cudaVideoCodec_VP9  ? "vp9"
                     : kind == cudaVideoCodec_AV1  ? "av1"
                                                   : "";
  for (int id = 1; id < 400; ++id)
    if (!std::strcmp(library().avcodec_get_name(id), name)) return library().avcodec_find_decoder(id);
  return nullptr;
}

// Pictures in a packet; of VP9 there may be some before the one that is shown (a superframe: its last byte says so).
int pictures_in(cudaVideoCodec codec, const CUVIDSOURCEDATAPACKET& data) {
  const uint8_t last = data.payload[data.payload_size - 1];
  return codec == cudaVideoCodec_VP9 && (last & 0xE0) == 0xC0 ? (last & 7) + 1 : 1;
}

class Parser {
 public:
  explicit Parser(const CUVIDPARSERPARAMS& params) : params_(params), lib_(library()) {
    const Codec* codec = find_codec(params.CodecType);
    codec_ = codec ? lib_.avcodec_alloc_context3(codec) : nullptr;
    frame_ = lib_.av_frame_alloc();
    packet_ = lib_.av_packet_alloc();
    if (!codec_) return;
    lib_.av_opt_set_int(codec_, "threads", 1, 0);
    lib_.av_opt_set_int(codec_, "err_detect", 1 << 3, 0);
    lib_.av_opt_set_int(codec_, "log_level_offset", 64, 0);
    opened_ = lib_.avcodec_open2(codec_, codec, nullptr) >= 0;
  }
  ~Parser() {
    for (const auto* list : {&queue_, &begun_})
      for (const Shown& s : *list) forget(s.number);
    if (codec_) lib_.avcodec_free_context(&codec_);
    lib_.av_frame_free(&frame_);
    lib_.av_packet_free(&packet_);
  }
  bool opened() const { return opened_; }

  CUresult parse(const CUVIDSOURCEDATAPACKET& data) {
    const Listener heard;
    // The real parser knows where a picture of these ends when the next one begins.
    const bool late = params_.CodecType == cudaVideoCodec_H264 || params_.CodecType == cudaVideoCodec_HEVC;
    if (late && !take_frames()) return kInvalid;
    const bool ends = data.flags & CUVID_PKT_ENDOFSTREAM;
    if (!ends && (!data.payload || data.payload_size == 0)) return breach("a packet without bytes");
    if (ended_ && !ends) return breach("a packet behind the end of the stream");
    if (data.payload_size) {
      if (!(data.flags & CUVID_PKT_TIMESTAMP)) return breach("a packet without a time");
      packet_->data = const_cast<uint8_t*>(data.payload);
      packet_->size = static_cast<int>(data.payload_size);
      packet_->pts = data.timestamp;
      padded_.assign(data.payload, data.payload + data.payload_size);
      padded_.resize(padded_.size() + 64);
      packet_->data = padded_.data();
      if (lib_.avcodec_send_packet(codec_, packet_) >= 0)  // what is damaged does not come out
        waiting_.push_back({data.timestamp, pictures_in(params_.CodecType, data)});
      packet_->data = nullptr, packet_->size = 0;
    }
    if (ends) {
      ended_ = true;
      lib_.avcodec_send_packet(codec_, nullptr);
    }
    if ((!late || ends) && !take_frames()) return kInvalid;
    while (ends && !queue_.empty())
      if (!show_first()) return kInvalid;
    return kSuccess;
  }

 private:
  struct Shown {
    int index;
    int64_t time;
    uint64_t number;
    int64_t told;  // the time that the caller hears
  };

  std::shared_ptr<const Picture> copy_frame() {
    auto p = std::make_shared<Picture>();
    p->width = frame_->width, p->height = frame_->height;
    p->top = number_from("PENSTOCK_STANDIN_TOP", 0);
    const char* name = lib_.av_get_pix_fmt_name(frame_->format);
    const std::string format = name ? name : "";
    p->bits = frame_->format == kYuv420 || frame_->format == kYuvJ420 ? 8
              : format == "yuv420p10le"                               ? 10
              : format == "yuv420p12le"                               ? 12
                                                                      : 0;
    if (!p->bits) return nullptr;
    for (int k = 0; k < 3; ++k) {
      const int w = k ? (p->width + 1) / 2 : p->width, h = k ? (p->height + 1) / 2 : p->height,
                bytes = p->bits > 8 ? 2 : 1;
      p->plane[k].resize(static_cast<size_t>(w * h * bytes));
      for (int y = 0; y < h; ++y)
        std::memcpy(p->plane[k].data() + static_cast<ptrdiff_t>(y) * w * bytes,
                    frame_->data[k] + static_cast<ptrdiff_t>(y) * frame_->linesize[k], static_cast<size_t>(w * bytes));
    }
    return p;
  }

  bool begin_sequence(const Picture& p) {
    while (!queue_.empty())
      if (!show_first()) return false;
    begun_.clear();
    CUVIDEOFORMAT f{};
    f.codec = params_.CodecType;
    f.chroma_format = cudaVideoChromaFormat_420;
    f.bit_depth_luma_minus8 = f.bit_depth_chroma_minus8 = static_cast<unsigned char>(p.bits - 8);
    f.min_num_decode_surfaces = 18;
    f.coded_width = p.coded_width(), f.coded_height = p.coded_height();
    f.display_area = {0, p.top, p.width, p.top + p.height};
    f.progressive_sequence = 1;
    f.video_signal_description.matrix_coefficients = 2;
    in_sequence_callback() = true;
    const int answer = params_.pfnSequenceCallback(params_.pUserData, &f);
    in_sequence_callback() = false;
    if (answer == 0) return false;
    surfaces_ = answer > 1 ? answer : static_cast<int>(params_.ulMaxNumDecodeSurfaces);
    if (surfaces_ < f.min_num_decode_surfaces) breach("fewer surfaces than the stream needs");
    width_ = p.width, height_ = p.height, bits_ = p.bits;
    coded_width_ = p.coded_width(), coded_height_ = p.coded_height();
    return true;
  }

  bool take_frames() {
    if (width_ && !decode_waiting()) return false;
    while (lib_.avcodec_receive_frame(codec_, frame_) == 0)
      if (!take_frame()) return false;
    return true;
  }

  // All packets that have come, those of later frames among them.
  bool decode_waiting() {
    for (; !waiting_.empty(); waiting_.pop_front()) {
      const Waiting w = waiting_.front();
      for (int hidden = w.pictures - 1; hidden > 0; --hidden)
        if (!decode_hidden(w.time)) return false;
      if (!decode(w.time)) return false;
    }
    return true;
  }

  bool take_frame() {
    const auto picture = copy_frame();
    if (!picture) return false;
    if (picture->width != width_ || picture->height != height_ || picture->bits != bits_)
      if (!begin_sequence(*picture)) return false;
    if (!decode_waiting()) return false;
    const auto begun =
        std::find_if(begun_.begin(), begun_.end(), [&](const Shown& s) { return s.time == frame_->pts; });
    if (begun == begun_.end()) return true;  // a second frame of one packet
    set_picture(begun->number, picture);
    queue_.push_back(*begun);
    begun_.erase(begun);
    while (queue_.size() > params_.ulMaxDisplayDelay)
      if (!show_first()) return false;
    return true;
  }

  // A picture that is not shown. As the real parser does, it takes the time of its packet: those that are shown after
  // it have the time of the one before.
  bool decode_hidden(int64_t time) {
    shows_ = false;
    const bool good = decode(time);
    late_ = shows_ = true;
    if (good) forget(begun_.back().number);
    if (good) begun_.pop_back();
    return good;
  }

  bool decode(int64_t time) {
    const auto is_used = [&](int index) {
      const auto has_it = [&](const Shown& s) { return s.index == index; };
      return std::any_of(queue_.begin(), queue_.end(), has_it) || std::any_of(begun_.begin(), begun_.end(), has_it);
    };
    for (int tries = 0; tries <= surfaces_; ++tries) {
      index_ = (index_ + 1) % surfaces_;
      if (!is_used(index_)) break;
    }
    if (is_used(index_)) {  // by a picture that is never shown
      const auto oldest = begun_.empty() ? queue_.front() : begun_.front();
      if (begun_.empty()) return show_first() && decode(time);
      begun_.pop_front();
      index_ = oldest.index;
    }
    const uint64_t number = hand_over(nullptr);
    CUVIDPICPARAMS p{};
    p.PicWidthInMbs = static_cast<int>(coded_width_ / 16), p.FrameHeightInMbs = static_cast<int>(coded_height_ / 16);
    p.CurrPicIdx = index_;
    p.CodecSpecific.CodecReserved[0] = static_cast<unsigned>(number),
    p.CodecSpecific.CodecReserved[1] = static_cast<unsigned>(number >> 32);
    if (params_.CodecType == cudaVideoCodec_VP9) p.CodecSpecific.vp9.showFrame = shows_;
    if (params_.CodecType == cudaVideoCodec_AV1) p.CodecSpecific.av1.show_frame = shows_;
    begun_.push_back({index_, time, number, time});
    return params_.pfnDecodePicture(params_.pUserData, &p) != 0;
  }

  bool show_first() {
    Shown s = queue_.front();
    queue_.pop_front();
    // As of the real parser, times come out in ascending order.
    for (Shown& later : queue_)
      if (later.told < s.told) std::swap(later.told, s.told);
    CUVIDPARSERDISPINFO shown{};
    shown.picture_index = s.index;
    shown.progressive_frame = 1;
    shown.timestamp = late_ ? time_before_ : s.told;
    time_before_ = s.told;
    const int answer = params_.pfnDisplayPicture(params_.pUserData, &shown);
    // Its surface may be used again: whoever reads it now is too late.
    forget(s.number);
    return answer != 0;
  }

  CUVIDPARSERPARAMS params_;
  const Library& lib_;
  CodecContext* codec_ = nullptr;
  Frame* frame_ = nullptr;
  Packet* packet_ = nullptr;
  std::vector<uint8_t> padded_;
  struct Waiting {
    int64_t time;
    int pictures;
  };
  std::deque<Waiting> waiting_;  // packets that FFmpeg has and the decoder has not
  std::deque<Shown> begun_;      // pictures that have not come out
  std::deque<Shown> queue_;      // to be shown
  int width_ = 0, height_ = 0, bits_ = 0, surfaces_ = 0, index_ = -1;
  unsigned coded_width_ = 0, coded_height_ = 0;
  int64_t time_before_ = 0;  // of the picture that was shown before
  bool shows_ = true;        // the picture that is decoded now
  bool late_ = false;        // times are those of the pictures before
  bool opened_ = false, ended_ = false;
};

}  // namespace
}  // namespace stand_in

using stand_in::breach;
using stand_in::device_is_current;

#define STAND_IN extern "C" __attribute__((visibility("default"))) CUresult

STAND_IN cuvidCreateVideoParser(CUvideoparser* out, CUVIDPARSERPARAMS* params) {
  if (!params->pfnSequenceCallback || !params->pfnDecodePicture || !params->pfnDisplayPicture)
    return breach("a parser without its callbacks");
  auto parser = std::make_unique<stand_in::Parser>(*params);
  if (!parser->opened()) return stand_in::kUnsupported;
  *out = parser.release();
  return stand_in::kSuccess;
}
STAND_IN cuvidParseVideoData(CUvideoparser parser, CUVIDSOURCEDATAPACKET* packet) {
  if (!device_is_current()) return breach("parsing without a device");
  return static_cast<stand_in::Parser*>(parser)->parse(*packet);
}
STAND_IN cuvidDestroyVideoParser(CUvideoparser parser) {
  delete static_cast<stand_in::Parser*>(parser);
  return stand_in::kSuccess;
}
