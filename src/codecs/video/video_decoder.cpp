// SPDX-License-Identifier: Apache-2.0
#include "codecs/video/video_decoder.h"

#include <algorithm>
#include <cstring>

#include "codecs/video/frame_colors.h"
#include "codecs/video/h264_units.h"

namespace penstock {

using namespace ffmpeg;

namespace {

constexpr int kFromStart = 3;     // seeks for one frame before the file is decoded from its first packet
constexpr int kExplode = 1 << 3;  // damage is an error, and is not concealed
constexpr int kSkipUnreferenced = 8, kSkipNothing = 0;
constexpr size_t kRowAlignment = 64, kPixelGroup = 16;
constexpr int kFrameThreads = 1, kSliceThreads = 2;

// A decoder that reports for one packet both "here is a picture" and "it is damaged" aborts the process if it runs with
// frame threads: before 7.1 FFmpeg asserts that the picture still exists, but has freed it (frame_worker_thread,
// decode_simple_internal). MPEG-4's does so for each damaged slice. The decoders below report one or the other in all
// releases from 4.4 on, and are the slow ones; all others get threads that work within a picture, or none.
bool may_have_frame_threads(const std::string& codec) {
  return codec == "h264" || codec == "hevc" || codec == "vp8" || codec == "vp9" || codec == "av1";
}

constexpr size_t rounded_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

VideoDecoder::VideoDecoder(std::shared_ptr<const VideoFile> file, int threads, bool ycbcr)
    : VideoDecoder(*file, threads) {
  owner_ = std::move(file);
  ycbcr_ = ycbcr;
}

VideoDecoder::VideoDecoder(const VideoFile& file, int threads)
    : lib_(library()), file_(&file), threads_(std::max(1, threads)), packets_(file) {
  try {
    open_codec();
  } catch (...) {
    close();
    throw;
  }
}

VideoDecoder::~VideoDecoder() { close(); }

void VideoDecoder::close() {
  if (codec_) lib_.avcodec_free_context(&codec_);
  if (frame_) lib_.av_frame_free(&frame_);
  if (scaler_) lib_.sws_freeContext(scaler_);
  scaler_ = nullptr;
}

void VideoDecoder::set_option(const char* name, int64_t value) {
  if (lib_.av_opt_set_int(codec_, name, value, 0) < 0)
    fail(ErrorKind::internal, "FFmpeg does not accept {}={}", name, value);
}

void VideoDecoder::open_codec() {
  const Listener heard;
  const Codec* codec = lib_.avcodec_find_decoder(lib_.codec_id(file_->parameters()));
  if (!codec) bad_data("this FFmpeg has no decoder for {} ({})", file_->codec(), lib_.version);
  codec_ = lib_.avcodec_alloc_context3(codec);
  frame_ = lib_.av_frame_alloc();
  if (!codec_ || !frame_) throw std::bad_alloc();
  if (const int code = lib_.avcodec_parameters_to_context(codec_, file_->parameters()); code < 0)
    bad_data("the parameters of the {} stream are invalid{}", file_->codec(), heard.why(code));
  set_option("threads", threads_);
  set_option("thread_type", kSliceThreads | (may_have_frame_threads(file_->codec()) ? kFrameThreads : 0));
  // FFmpeg counts the pixels of rows and columns that it rounds up to.
  constexpr int64_t kRounded = 256;
  const int64_t rounded = (file_->width() + kRounded) * (file_->height() + kRounded);
  set_option("max_pixels", std::max(file_->max_pixels(), rounded));
  set_option("err_detect", kExplode);
  set_option("log_level_offset", 64);  // FFmpeg's threads print nothing
  if (const int code = lib_.avcodec_open2(codec_, codec, nullptr); code < 0)
    bad_data("the decoder for {} does not open{}", file_->codec(), heard.why(code));
}

void VideoDecoder::jump_to(int64_t packet) {
  if (file_->chained() && fed_ > 0) {  // the headers of the most recently read link do not apply to another one
    lib_.avcodec_free_context(&codec_);
    lib_.av_frame_free(&frame_);
    skips_ = false;
    open_codec();
  } else if (start_ >= 0 || drained_) {
    lib_.avcodec_flush_buffers(codec_);
  }
  drained_ = false;
  start_ = -1;
  fault_.reset();
  packets_.go_to(packet);
  start_ = fed_ = packet;
  last_ = -1;
  expected_.clear();
}

void VideoDecoder::feed(int64_t last_wanted, bool wanted) {
  const int64_t number = fed_;
  auto* p = const_cast<Packet*>(packets_.read());
  p->pts = number;  // comes out with the frame
  p->dts = kNoPts;
  const int64_t frame = file_->packets()[number].frame;
  const bool skip = !wanted && frame >= 0 && frame < last_wanted;
  if (skip != skips_) {
    set_option("skip_frame", skip ? kSkipUnreferenced : kSkipNothing);
    skips_ = skip;
  }
  if (file_->codec() == "h264" && frame >= 0 &&
      (!skip || h264::is_referred_to(lib_.extradata(file_->parameters()), {p->data, static_cast<size_t>(p->size)})))
    expected_.insert(frame);
  ++fed_;
  if (file_->chained() && file_->header_in(*p) == VideoFile::Header::unneeded) return;
  const Listener heard;
  const int code = lib_.avcodec_send_packet(codec_, p);
  if (code < 0 && code != kEndOfFile && !fault_) fault_ = Fault{heard.why(code), number};
}

int64_t VideoDecoder::next_frame(std::span<const int64_t> wanted) {
  const auto total = static_cast<int64_t>(file_->packets().size());
  const Listener heard;
  while (!fault_) {
    lib_.av_frame_unref(frame_);
    const int code = lib_.avcodec_receive_frame(codec_, frame_);
    if (code == 0) return frame_->pts >= start_ && frame_->pts < total ? frame_->pts : -1;
    if (code == kEndOfFile) break;
    if (code != kTryAgain) {
      fault_ = Fault{heard.why(code), fed_ - 1};
      break;
    }
    if (fed_ < total) {
      const int64_t frame = file_->packets()[fed_].frame;
      feed(wanted.empty() ? -1 : wanted.back(), std::binary_search(wanted.begin(), wanted.end(), frame));
    } else if (!drained_) {
      drained_ = true;
      lib_.avcodec_send_packet(codec_, nullptr);
    } else {
      break;
    }
  }
  return -1;
}

bool VideoDecoder::continues_to(int64_t frame) const {
  if (start_ < 0 || fault_ || last_ >= frame) return false;
  const int64_t start = file_->start_of(frame);
  return start >= start_ && start <= fed_ + PacketReader::kReadThrough / 4;
}

// Continues to decode until all frames are out; false if one does not come. `stay`: the first one without a seek.
bool VideoDecoder::decode_to(std::span<const int64_t> frames, size_t& done, bool stay, const FrameTarget& target) {
  for (; done < frames.size(); ++done, stay = false) {
    if (!stay && !continues_to(frames[done])) jump_to(file_->start_of(frames[done]));
    int64_t frame = -1;
    while (frame < frames[done]) {
      const int64_t packet = next_frame(frames);
      if (packet < 0) return false;
      frame = file_->packets()[packet].frame;
      // Frames that are shown before the first one that comes may refer to frames before the start.
      if (last_ < 0) expected_.erase(expected_.begin(), expected_.lower_bound(frame));
      expected_.erase(frame);
      last_ = std::max(last_, frame);
    }
    if (frame > frames[done]) return false;
    if (!expected_.empty() && *expected_.begin() < frame) {
      fault_ = Fault{": it gives no picture", file_->packet_of(*expected_.begin())};
      return false;
    }
    if (uint8_t* to = target(done)) convert(to, frame);
  }
  return true;
}

void VideoDecoder::read(std::span<const int64_t> frames, const FrameTarget& target) {
  size_t done = 0;
  std::optional<Fault> first;
  const auto& packets = file_->packets();
  try {
    for (int tries = 0; !decode_to(frames, done, tries > 0, target); ++tries) {
      if (!first) first = fault_;
      if (start_ <= 0) {
        const Fault f = first ? *first : Fault{": it gives no frame", file_->packet_of(frames[done])};
        bad_data("frame {} of {} cannot be decoded: packet {} at byte {}{}", frames[done], file_->frames(), f.packet,
                 packets[f.packet].position, f.why);
      }
      // Some frames need more than the key packet before them: gradual refreshes, pictures that refer to earlier ones.
      jump_to(tries < kFromStart ? file_->key_before(std::min(start_, file_->start_of(frames[done]))) : 0);
    }
  } catch (...) {
    start_ = -1;  // the next call starts anew
    throw;
  }
}

void VideoDecoder::convert(uint8_t* to, int64_t frame) {
  const int w = file_->width(), h = file_->height();
  if (frame_->width != w || frame_->height != h)
    bad_data("frame {} has {} x {} pixels, but the video has {} x {}", frame, frame_->width, frame_->height, w, h);
  const Listener heard;
  int64_t matrix = 2, range = 0;
  lib_.av_opt_get_int(codec_, "colorspace", 0, &matrix);
  lib_.av_opt_get_int(codec_, "color_range", 0, &range);
  if (!scaler_ || scaler_format_ != frame_->format || matrix != scaler_matrix_ || range != scaler_range_) {
    if (scaler_) lib_.sws_freeContext(scaler_);
    scaler_ =
        lib_.sws_getContext(w, h, frame_->format, w, h, ycbcr_ ? kYuv444 : kRgb24, kBicubic, nullptr, nullptr, nullptr);
    if (!scaler_) {
      const char* name = lib_.av_get_pix_fmt_name(frame_->format);
      bad_data("frames of {} cannot be converted", name ? name : "an unknown format");
    }
    scaler_format_ = frame_->format, scaler_matrix_ = matrix, scaler_range_ = range;
    int* table = nullptr;
    int full = 0, ignored = 0;  // if the stream states no range, the format implies it: gray's is full
    if (range != 0 ||
        lib_.sws_getColorspaceDetails(scaler_, &table, &full, &table, &ignored, &ignored, &ignored, &ignored) < 0)
      full = is_full_range(range);
    lib_.sws_setColorspaceDetails(scaler_, matrix_numbers(matrix), full, lib_.sws_getCoefficients(5), 0, 0, 1 << 16,
                                  1 << 16);
  }
  // The conversion works on groups of 8 or 16 pixels, and omits the last group if the rows have no room for all of it;
  // its vectors write past that.
  const size_t channels = ycbcr_ ? 1 : 3, row = static_cast<size_t>(w) * channels;
  const size_t padded = rounded_up(rounded_up(static_cast<size_t>(w), kPixelGroup) * channels, kRowAlignment);
  const size_t plane = padded * static_cast<size_t>(h) + kRowAlignment;
  const bool direct = !ycbcr_ && row == padded;
  if (!direct) rows_.resize(plane * (ycbcr_ ? 3 : 1));
  uint8_t* const rows = direct ? to : rows_.data();
  uint8_t* const out[4] = {rows, ycbcr_ ? rows + plane : nullptr, ycbcr_ ? rows + 2 * plane : nullptr, nullptr};
  const int stride = static_cast<int>(padded), strides[4] = {stride, ycbcr_ ? stride : 0, ycbcr_ ? stride : 0, 0};
  if (const int code = lib_.sws_scale(scaler_, frame_->data, frame_->linesize, 0, h, out, strides); code < h)
    bad_data("frame {} cannot be converted{}", frame, heard.why(code));
  if (ycbcr_) {
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x, to += 3)
        for (int c = 0; c < 3; ++c) to[c] = out[c][y * padded + x];
  } else if (!direct) {
    for (int y = 0; y < h; ++y) std::memcpy(to + y * row, rows + y * padded, row);
  }
}

namespace {

// For H.264, FFmpeg omits pictures without an error: if a key picture is lost, up to the next key packet. And a picture
// that damage splits in two counts as one.
std::vector<int64_t> lost_pictures(const VideoFile& file, const std::set<int64_t>& known,
                                   std::vector<int64_t> refused) {
  const std::vector<bool> begins = h264::packets_with_pictures(file);
  if (begins.empty()) return refused;
  refused.clear();
  for (size_t k = 0; k < begins.size(); ++k)
    if (begins[k] && file.packets()[k].frame >= 0 && !known.contains(static_cast<int64_t>(k)))
      refused.push_back(static_cast<int64_t>(k));
  return refused;
}

}  // namespace

// For a damaged file the order is that of decoding with concealment, as in `ffmpeg -i`. A packet that cannot be decoded
// even so counts as one frame: a damaged frame keeps its number, and is an error if it is requested.
std::vector<int64_t> order_of_decoded_frames(const VideoFile& file) {
  std::optional<VideoDecoder::Fault> first;
  for (const bool conceals : {false, true}) {
    VideoDecoder decoder(file, 1);
    if (conceals) decoder.set_option("err_detect", 0);
    decoder.jump_to(0);
    std::vector<int64_t> order, refused;
    const size_t most_faults = file.packets().size() + 64;  // some more come when the decoder is flushed
    for (size_t faults = 0;;) {
      const int64_t packet = decoder.next_frame({});
      if (packet >= 0) {
        order.push_back(packet);
      } else if (conceals && decoder.fault_ && ++faults <= most_faults) {
        if (refused.empty() || refused.back() < decoder.fault_->packet) refused.push_back(decoder.fault_->packet);
        decoder.fault_.reset();
      } else {
        break;
      }
    }
    if (!conceals && !decoder.fault_) return order;
    if (!conceals) first = decoder.fault_;
    if (!conceals || order.empty()) continue;
    std::set<int64_t> known(order.begin(), order.end());
    if (file.codec() == "h264") refused = lost_pictures(file, known, std::move(refused));
    // When it would be shown is not known: it goes before the first one that comes after it in the file.
    std::vector<int64_t> out;
    auto next = refused.begin();
    for (const int64_t packet : order) {
      for (; next != refused.end() && *next < packet; ++next)
        if (known.insert(*next).second) out.push_back(*next);
      out.push_back(packet);
    }
    for (; next != refused.end(); ++next)
      if (known.insert(*next).second) out.push_back(*next);
    return out;
  }
  bad_data("packet {} at byte {} cannot be decoded{}", first->packet,
           file.packets()[std::max<int64_t>(0, first->packet)].position, first->why);
}

}  // namespace penstock
