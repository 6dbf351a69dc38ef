// SPDX-License-Identifier: Apache-2.0
#include "cuda/video/nvdec/video_decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/dtype.h"
#include "base/error_of.h"
#include "batch/transfer.h"

namespace penstock::video_gpu {
namespace {

constexpr int kDisplayDelay = 4;  // pictures that are decoded while one is read
constexpr int kFromStart = 3;     // seeks for one frame before the file is decoded from its first packet
constexpr size_t kMostKept = 64;
constexpr size_t kMostWaiting = 4;  // packets whose picture the parser has not begun, in videos with B-frames

// Codecs with pictures that are never shown. They show the others in the order of their packets.
bool has_hidden_pictures(cudaVideoCodec codec) {
  return codec == cudaVideoCodec_VP8 || codec == cudaVideoCodec_VP9 || codec == cudaVideoCodec_AV1;
}

// Whether pictures of H.264 that are shown after this one are exact when decoding begins here: an IDR picture, or a
// recovery point (ITU-T H.264, D.2.8) that needs no further pictures. Other recovery points refresh gradually, and a
// decoder might not report it.
bool begins_exactly(std::span<const uint8_t> b) {
  const auto next_unit = [&](size_t from) {  // after its start code
    for (size_t i = from; i + 3 < b.size(); ++i)
      if (b[i] == 0 && b[i + 1] == 0 && b[i + 2] == 1) return i + 3;
    return b.size();
  };
  for (size_t unit = next_unit(0); unit < b.size();) {
    const size_t next = next_unit(unit), end = next < b.size() ? next - 3 : next;
    const int type = b[unit] & 31;
    if (type == 5) return true;
    for (size_t at = unit + 1; type == 6 && at + 2 < end;) {
      size_t kind = 0, size = 0;
      for (size_t* n : {&kind, &size}) {
        while (at < end && b[at] == 255) *n += b[at++];
        if (at < end) *n += b[at++];
      }
      if (kind == 6) return at < end && (b[at] & 0x80);  // recovery_frame_cnt is 0
      at += size;
    }
    unit = next;
  }
  return false;
}

}  // namespace

// Codecs whose standards define every bit of a picture, and frame formats whose conversion is exact (pixel/yuv_rgb.h).
std::string declines(const Nvcuvid& lib, const VideoFile& file, StreamKind& kind) {
  static constexpr std::pair<const char*, cudaVideoCodec> kCodecs[] = {{"h264", cudaVideoCodec_H264},
                                                                       {"hevc", cudaVideoCodec_HEVC},
                                                                       {"vp8", cudaVideoCodec_VP8},
                                                                       {"vp9", cudaVideoCodec_VP9},
                                                                       {"av1", cudaVideoCodec_AV1}};
  static constexpr std::pair<const char*, int> kFormats[] = {
      {"yuv420p", 8}, {"yuvj420p", 8}, {"yuv420p10le", 10}, {"yuv420p12le", 12}};
  const auto codec =
      std::find_if(std::begin(kCodecs), std::end(kCodecs), [&](const auto& c) { return file.codec() == c.first; });
  if (codec == std::end(kCodecs)) return fmt::format("{} cannot be decoded on GPUs", file.codec());
  const std::string name = stream_colors(file).format;
  const auto format =
      std::find_if(std::begin(kFormats), std::end(kFormats), [&](const auto& f) { return name == f.first; });
  if (format == std::end(kFormats)) return fmt::format("frames of {} cannot be converted on GPUs", name);
  kind = {codec->second, format->second};
  const int w = file.width(), h = file.height();
  if (h % 2 || (kind.bits > 8 && (w % 2 || h < 16)))
    return fmt::format("frames of {} with {} x {} pixels cannot be converted on GPUs", name, w, h);
  CUVIDDECODECAPS caps{};
  caps.eCodecType = kind.codec;
  caps.eChromaFormat = cudaVideoChromaFormat_420;
  caps.nBitDepthMinus8 = static_cast<unsigned>(kind.bits - 8);
  if (const int code = static_cast<int>(lib.get_caps(&caps)); code != 0)
    return fmt::format("the query of NVDEC failed with CUDA error {}", code);
  const int surface = kind.bits > 8 ? cudaVideoSurfaceFormat_P016 : cudaVideoSurfaceFormat_NV12;
  if (!caps.bIsSupported || !(caps.nOutputFormatMask >> surface & 1))
    return fmt::format("this GPU's NVDEC does not support {} with {} bits", file.codec(), kind.bits);
  const auto coded = [](int n) { return static_cast<unsigned>((n + 15) / 16 * 16); };
  if (static_cast<unsigned>(w) < caps.nMinWidth || static_cast<unsigned>(h) < caps.nMinHeight ||
      coded(w) > caps.nMaxWidth || coded(h) > caps.nMaxHeight || uint64_t{coded(w)} * coded(h) / 256 > caps.nMaxMBCount)
    return fmt::format("{} x {} pixels: this GPU's NVDEC supports {} x {} to {} x {} for {}", w, h, caps.nMinWidth,
                       caps.nMinHeight, caps.nMaxWidth, caps.nMaxHeight, file.codec());
  return "";
}

NvdecVideo::NvdecVideo(Engine& engine, std::shared_ptr<const VideoFile> file, StreamKind kind, FrameType type)
    : engine_(engine), file_(std::move(file)), kind_(kind), type_(type), packets_(*file_), filter_(*file_) {
  int64_t before = -1;
  for (const auto& packet : file_->packets()) {
    reordered_ |= packet.frame >= 0 && packet.frame < before;
    before = packet.frame >= 0 ? packet.frame : before;
  }
  const StreamColors colors = stream_colors(*file_);
  matrix_ = make_yuv_rgb(matrix_numbers(colors.matrix), is_full_range(colors.range));
  if (kind_.codec == cudaVideoCodec_AV1) {  // the first four bytes are the container's
    const auto all = filter_.headers();
    const auto own = all.size() > 4 && all[0] == 0x81 ? all.subspan(4) : all;
    if (own.size() <= sizeof headers_.raw_seqhdr_data) {
      std::memcpy(headers_.raw_seqhdr_data, own.data(), own.size());
      headers_.format.seqhdr_data_length = static_cast<unsigned>(own.size());
    }
  }
}

NvdecVideo::~NvdecVideo() {
  error_of([&] {
    engine_.driver.on_device(engine_.device, [&] {
      close_parser();
      engine_.sessions.give_back(std::move(session_));
    });
  });
}

size_t NvdecVideo::frame_bytes() const {
  return checked_bytes(int64_t{file_->width()} * file_->height() * 3, size_of(type_.dtype));
}

// No exception may leave a callback: only the result.
template <class Step> int NvdecVideo::guarded(Step&& step) {
  int result = 1;
  if (fault_) return 0;
  fault_ = error_of([&] { result = step(); });
  return fault_ ? 0 : result;
}

int NvdecVideo::begin_sequence(const CUVIDEOFORMAT& f) {
  const int width = f.display_area.right - f.display_area.left, height = f.display_area.bottom - f.display_area.top;
  if (width != file_->width() || height != file_->height())
    bad_data("the frames have {} x {} pixels, but the video has {} x {}", width, height, file_->width(),
             file_->height());
  if (f.chroma_format != cudaVideoChromaFormat_420 || f.bit_depth_luma_minus8 != kind_.bits - 8 ||
      f.bit_depth_chroma_minus8 != kind_.bits - 8 || f.codec != kind_.codec)
    bad_data("the format of the frames changes in the stream");
  if (f.display_area.left != 0 || f.display_area.top < 0 || f.display_area.top % 2 ||
      static_cast<unsigned>(f.display_area.right) > f.coded_width ||
      static_cast<unsigned>(f.display_area.bottom) > f.coded_height)
    bad_data("the display area starts at {}, {} instead of 0, 0", f.display_area.left, f.display_area.top);
  if (int64_t{f.coded_width} * f.coded_height > 4 * file_->max_pixels())
    bad_data("the coded size of {} x {} pixels is not valid", f.coded_width, f.coded_height);
  top_ = f.display_area.top;
  const auto even = [](unsigned n) { return n + n % 2; };  // for some VP9 videos
  const SessionShape shape{kind_.codec, even(f.coded_width), even(f.coded_height), kind_.bits,
                           std::clamp(f.min_num_decode_surfaces + kDisplayDelay, 8, kMostSurfaces)};
  const bool same = session_ && session_->shape().width == shape.width && session_->shape().height == shape.height &&
                    session_->fits(shape);
  if (!same) {
    if (session_ && !(session_->fits(shape) && session_->reconfigure(shape)))
      engine_.sessions.give_back(std::move(session_));
    if (!session_) session_ = engine_.sessions.take(shape);
  }
  return session_->shape().surfaces;
}

void NvdecVideo::write(const CUVIDPARSERDISPINFO& shown, void* to, StreamHandle stream) {
  const Session::Surface surface = session_->map(shown, stream);
  FrameTable t{};
  t.pitch = surface.pitch;
  t.luma = surface.data + top_ * t.pitch;
  t.chroma = surface.data + (static_cast<int64_t>(session_->shape().height) + top_ / 2) * t.pitch;
  t.out = to;
  t.width = file_->width(), t.height = file_->height(), t.bits = kind_.bits;
  t.floats = type_.dtype == DType::float32, t.scale = type_.scale;
  t.matrix = matrix_;
  engine_.writer.write(t, stream);
  session_->release(stream);
}

void NvdecVideo::begin_picture(CUVIDPICPARAMS& picture) {
  if (!session_) bad_data("a picture precedes the sequence header");
  session_->decode(&picture);
  int64_t& packet = packet_in_.at(static_cast<size_t>(picture.CurrPicIdx));
  if (has_hidden_pictures(kind_.codec)) {
    const auto& codec = picture.CodecSpecific;
    const bool hidden = (kind_.codec == cudaVideoCodec_VP9 && !codec.vp9.showFrame) ||
                        (kind_.codec == cudaVideoCodec_AV1 && !codec.av1.show_frame);
    packet = hidden ? -1 : fed_;
  } else if (!picture.second_field) {
    if (given_.empty()) bad_data("the stream has more pictures than packets");
    packet = given_.front();
    given_.pop_front();
  }
}

// The library returns times in ascending order, for whatever is shown: they are numbers in display order. Those of
// frames start at the number of packets.
int64_t NvdecVideo::time_of(int64_t packet) const {
  const auto total = static_cast<int64_t>(file_->packets().size());
  const int64_t frame = file_->packets()[packet].frame;
  if (frame >= 0) return total + frame;
  return packet < file_->packet_of(file_->frames() - 1) ? packet : 2 * total + packet;
}

// The frame of a picture; -1: none, or it is not wanted. Hidden pictures take a time too, and after them times are too
// early; there pictures are counted, and a lost one shows by a surface with a later packet's.
int64_t NvdecVideo::frame_of(const CUVIDPARSERDISPINFO& shown) {
  const auto& packets = file_->packets();
  const auto total = static_cast<int64_t>(packets.size());
  if (!has_hidden_pictures(kind_.codec)) {
    // The pictures of packets come in order. If one is lost, each later one is taken for its predecessor. Where the
    // order changes, their times show it; elsewhere the waiting packets do, of which there is only one.
    const int64_t own = packet_in_.at(static_cast<size_t>(shown.picture_index));
    if (own < 0 || time_of(own) != shown.timestamp || given_.size() > (reordered_ ? kMostWaiting : 1))
      bad_data("a packet before packet {} has no picture to show", own);
    return packets[own].frame;
  }
  while (next_shown_ < total && packets[next_shown_].frame < 0) ++next_shown_;
  const int64_t own = std::exchange(packet_in_.at(static_cast<size_t>(shown.picture_index)), -1);
  if (next_shown_ >= total || (own >= 0 && own != next_shown_))
    bad_data("packet {} does not have exactly one picture to show", std::min(next_shown_, total - 1));
  return packets[next_shown_++].frame;
}

void NvdecVideo::show(const CUVIDPARSERDISPINFO& shown) {
  const int64_t frame = frame_of(shown);
  if (frame < 0 || !request_ || frame < first_exact_) return;
  // A damaged picture spoils those that refer to it, which are returned nevertheless.
  for (int64_t before = std::max(last_ + 1, first_exact_); before < frame; ++before)
    if (file_->packet_of(before) >= start_) bad_data("NVDEC does not return frame {}", before);
  session_->check_pictures();
  last_ = std::max(last_, frame);
  Request& r = *request_;
  if (r.done < r.frames.size()) {
    if (frame < r.frames[r.done]) return;
    if (frame > r.frames[r.done]) {
      r.passed_by = true;
      return;
    }
    if (void* to = r.target(r.done)) write(shown, to, r.stream);
    ++r.done;
    return;
  }
  if (kept_.size() >= kMostKept) return;
  Kept kept{allocate_shared(engine_.driver.memory(engine_.device), frame_bytes(), r.stream), r.stream, nullptr};
  write(shown, kept.pixels.get(), r.stream);
  kept.written = engine_.driver.record(engine_.device, r.stream);
  kept_[frame] = std::move(kept);
}

void NvdecVideo::close_parser() {
  if (parser_) engine_.lib.destroy_parser(parser_);
  parser_ = nullptr;
}

// The next read starts anew.
void NvdecVideo::forget() {
  close_parser();
  if (session_) session_->forget_pictures();
  kept_.clear();
  fault_.reset();
  start_ = last_ = -1;
  given_.clear();
  first_exact_ = 0;
  ended_ = false;
}

void NvdecVideo::jump_to(int64_t packet) {
  forget();
  packets_.go_to(packet);
  filter_.restart();
  CUVIDPARSERPARAMS params{};
  params.CodecType = kind_.codec;
  params.ulMaxNumDecodeSurfaces = 1;  // begin_sequence() returns the actual number
  params.ulMaxDisplayDelay = kDisplayDelay;
  params.pUserData = this;
  params.pfnSequenceCallback = [](void* self, CUVIDEOFORMAT* format) {
    auto& v = *static_cast<NvdecVideo*>(self);
    return v.guarded([&] { return v.begin_sequence(*format); });
  };
  params.pfnDecodePicture = [](void* self, CUVIDPICPARAMS* picture) {
    auto& v = *static_cast<NvdecVideo*>(self);
    return v.guarded([&] {
      v.begin_picture(*picture);
      return 1;
    });
  };
  params.pfnDisplayPicture = [](void* self, CUVIDPARSERDISPINFO* shown) {
    auto& v = *static_cast<NvdecVideo*>(self);
    return v.guarded([&] {
      if (shown && v.session_) v.show(*shown);
      return 1;
    });
  };
  if (headers_.format.seqhdr_data_length) params.pExtVideoInfo = &headers_;
  check_nvcuvid(engine_.lib.create_parser(&parser_, &params), "creating a parser");
  start_ = fed_ = next_shown_ = packet;
  first_exact_ = packet > 0 ? std::max<int64_t>(0, file_->packets()[packet].frame) : 0;
}

// One packet, or the end of the file.
void NvdecVideo::feed() {
  CUVIDSOURCEDATAPACKET data{};
  if (fed_ < static_cast<int64_t>(file_->packets().size())) {
    const ffmpeg::Packet* p = packets_.read();
    std::span<const uint8_t> bytes = filter_(p);
    // Pictures of HEVC that follow a key picture and are shown before it: nothing else refers to them, and if the
    // parser omits them the key picture gets their time.
    const int64_t frame = file_->packets()[fed_].frame;
    if (kind_.codec == cudaVideoCodec_HEVC && frame >= 0 && frame < first_exact_) {
      ++fed_;
      return;
    }
    const bool in_stream = kind_.codec == cudaVideoCodec_H264 || kind_.codec == cudaVideoCodec_HEVC;
    if (fed_ == start_ && kind_.codec == cudaVideoCodec_H264 && !begins_exactly(bytes))
      bad_data("decoding from packet {} does not give exact frames", fed_);
    if (fed_ == start_ && in_stream) {
      first_.assign(filter_.headers().begin(), filter_.headers().end());
      first_.insert(first_.end(), bytes.begin(), bytes.end());
      bytes = first_;
    }
    data.payload = bytes.data(), data.payload_size = bytes.size();
    data.flags = CUVID_PKT_TIMESTAMP;
    data.timestamp = time_of(fed_);
    if (!has_hidden_pictures(kind_.codec)) given_.push_back(fed_);
  } else {
    data.flags = CUVID_PKT_ENDOFSTREAM;
    ended_ = true;
  }
  const CUresult code = engine_.lib.parse(parser_, &data);
  fed_ += !ended_;
  if (fault_) throw Error(*fault_);
  check_nvcuvid(code, "parsing a packet");
}

bool NvdecVideo::continues_to(int64_t frame) const {
  if (start_ < 0 || fault_) return false;
  if (kept_.count(frame)) return true;
  if (last_ >= frame || ended_) return false;
  const int64_t start = file_->start_of(frame);
  return start >= start_ && start <= fed_ + PacketReader::kReadThrough / 4;
}

// Continues to the request's end; false if a frame does not come. `stay`: the next one without a seek.
bool NvdecVideo::decode_on(bool stay) {
  Request& r = *request_;
  for (; r.done < r.frames.size(); stay = false) {
    const int64_t frame = r.frames[r.done];
    if (const auto kept = kept_.find(frame); kept != kept_.end()) {
      if (void* to = r.target(r.done)) {
        engine_.driver.wait(engine_.device, r.stream, *kept->second.written);
        engine_.driver.copy(engine_.device, to, kept->second.pixels.get(), frame_bytes(), r.stream);
        kept->second.pixels =
            owner_used_on(std::move(kept->second.pixels), engine_.device, kept->second.stream, r.stream);
      }
      ++r.done;
      continue;
    }
    if (!stay && !continues_to(frame)) jump_to(file_->start_of(frame));
    const size_t before = r.done;
    r.passed_by = false;
    while (r.done == before) {
      if (ended_ || r.passed_by) return false;
      feed();
    }
  }
  return true;
}

void NvdecVideo::read(std::span<const int64_t> frames, const std::function<void*(size_t)>& target,
                      StreamHandle stream) {
  Request request{frames, target, stream};
  request_ = &request;
  const auto error = error_of([&] {
    engine_.driver.on_device(engine_.device, [&] {
      for (int tries = 0; !decode_on(tries > 0); ++tries) {
        if (start_ <= 0) bad_data("NVDEC does not return frame {}", frames[request.done]);
        jump_to(tries < kFromStart ? file_->key_before(std::min(start_, file_->start_of(frames[request.done]))) : 0);
      }
      std::erase_if(kept_, [&](const auto& k) { return !frames.empty() && k.first <= frames.back(); });
    });
  });
  request_ = nullptr;
  if (!error) return;
  error_of([&] { engine_.driver.on_device(engine_.device, [&] { forget(); }); });
  throw Error(*error);
}

}  // namespace penstock::video_gpu
