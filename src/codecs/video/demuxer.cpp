// SPDX-License-Identifier: Apache-2.0
#include "codecs/video/demuxer.h"

#include <cstdio>
#include <vector>

#include "base/error_of.h"

namespace penstock {

using namespace ffmpeg;

namespace {

constexpr int kIoBytes = 64 << 10;
// Containers and streams of video. Playlists and images are not included: their readers open other files.
constexpr const char* kContainers =
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,ivf,mpegts,mpeg,mpegvideo,flv,ogg,asf,nut,h264,hevc,m4v,mjpeg,obu,av1,"
    "mxf,gxf,dv,wtv,swf,rm,h263,h261,vc1,cavsvideo,avs2,avs3,y4m,yuv4mpegpipe,gif,apng";

}  // namespace

Demuxer::Demuxer(std::shared_ptr<const VideoBytes> bytes, bool known, int64_t max_pixels)
    : lib_(library()), bytes_(std::move(bytes)) {
  const Listener heard;
  if (bytes_->size() == 0) bad_data("the file is empty");
  auto* buffer = static_cast<uint8_t*>(lib_.av_malloc(kIoBytes));
  if (buffer) io_ = lib_.avio_alloc_context(buffer, kIoBytes, 0, this, read_bytes, nullptr, seek_bytes);
  if (!io_) lib_.av_free(buffer);
  context_ = lib_.avformat_alloc_context();
  packet_ = lib_.av_packet_alloc();
  try {
    if (!io_ || !context_ || !packet_) throw std::bad_alloc();
    lib_.set_io(context_, io_);
    Dictionary* options = nullptr;
    lib_.av_dict_set(&options, "format_whitelist", kContainers, 0);
    lib_.av_dict_set(&options, "protocol_whitelist", "none", 0);
    lib_.av_dict_set(&options, "max_streams", "256", 0);
    const int code = lib_.avformat_open_input(&context_, nullptr, nullptr, &options);  // frees the context on failure
    lib_.av_dict_free(&options);
    if (code < 0) fail_reading("not a video that FFmpeg can read", code, heard);
    if (!known) find_streams(max_pixels, heard);
    number_ = lib_.av_find_best_stream(context_, 0, -1, -1, nullptr, 0);
    if (number_ < 0) bad_data("the {} file has no video stream", container());
    for (unsigned i = 0; i < lib_.streams(context_); ++i)
      if (static_cast<int>(i) != number_) lib_.discard(lib_.stream(context_, i));
    stream_ = lib_.stream(context_, static_cast<unsigned>(number_));
    parameters_ = lib_.parameters(stream_);
  } catch (...) {
    close();
    throw;
  }
}

Demuxer::~Demuxer() { close(); }

// May decode some pictures.
void Demuxer::find_streams(int64_t max_pixels, const Listener& heard) {
  std::vector<Dictionary*> options(lib_.streams(context_));
  for (auto& o : options) {
    lib_.av_dict_set(&o, "max_pixels", std::to_string(max_pixels).c_str(), 0);
    lib_.av_dict_set(&o, "log_level_offset", "64", 0);
  }
  const int code = lib_.avformat_find_stream_info(context_, options.data());
  for (auto& o : options) lib_.av_dict_free(&o);
  if (code < 0) fail_reading("the video's streams cannot be read", code, heard);
}

void Demuxer::close() {
  if (context_) lib_.avformat_close_input(&context_);
  if (packet_) lib_.av_packet_free(&packet_);
  if (!io_) return;
  lib_.av_free(lib_.io_buffer(io_));  // FFmpeg may have reallocated it
  lib_.avio_context_free(&io_);
}

void Demuxer::fail_reading(const char* what, int code, const Listener& heard) {
  if (io_error_) throw *io_error_;
  bad_data("{}{} (at byte {} of {})", what, heard.why(code), at_, bytes_->size());
}

int Demuxer::read_bytes(void* self, uint8_t* to, int length) {
  auto& d = *static_cast<Demuxer*>(self);
  const int64_t n = std::min<int64_t>(length, d.bytes_->size() - d.at_);
  if (n <= 0) return kEndOfFile;
  d.io_error_ = error_of([&] { d.bytes_->read(d.at_, n, to); });
  if (d.io_error_) return kIoError;
  d.at_ += n;
  return static_cast<int>(n);
}

int64_t Demuxer::seek_bytes(void* self, int64_t offset, int whence) {
  auto& d = *static_cast<Demuxer*>(self);
  if (whence & kSeekSize) return d.bytes_->size();
  whence &= ~kSeekForce;
  const int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? d.at_ : d.bytes_->size();
  if (offset < -from || offset > (int64_t{1} << 62) - from) return kInvalid;
  return d.at_ = from + offset;
}

const Packet* Demuxer::next() {
  if (again_) {
    again_ = false;
    return packet_;
  }
  const Listener heard;
  // A damaged packet does not affect the next one; a file in which nothing more comes is at its end.
  for (int failures = 0;;) {
    lib_.av_packet_unref(packet_);
    const int code = lib_.av_read_frame(context_, packet_);
    if (code == kEndOfFile) {
      if (io_error_) throw *io_error_;
      if (heard.complained()) fail_reading("the video ends too early", code, heard);
      return nullptr;
    }
    if (code < 0) {
      if (code == kTryAgain && ++failures < 1000) continue;
      // FFmpeg's message about a new stream between pages of others.
      if (!io_error_ && std::string_view(container()) == "ogg" && heard.why(code).find("stream") != std::string::npos)
        bad_data(
            "a chained Ogg file: after its first link it can be read only if each link is a single stream{} (at "
            "byte {} of {})",
            heard.why(code), at_, bytes_->size());
      fail_reading("the video's packets cannot be read", code, heard);
    }
    if (packet_->stream_index == number_) return packet_;
  }
}

bool Demuxer::seek(int64_t timestamp) {
  const Listener heard;
  again_ = false;
  return lib_.av_seek_frame(context_, number_, timestamp, kSeekBackward) >= 0;
}

const char* Demuxer::container() const { return lib_.format_name(context_); }
Rational Demuxer::time_base() const { return lib_.time_base(stream_); }

double Demuxer::guessed_rate() const {
  const Rational r = lib_.av_guess_frame_rate(context_, stream_, nullptr);
  return r.num > 0 && r.den > 0 ? static_cast<double>(r.num) / r.den : 0;
}

}  // namespace penstock
