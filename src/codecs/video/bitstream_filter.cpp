// SPDX-License-Identifier: Apache-2.0
#include "codecs/video/bitstream_filter.h"

#include <cstring>

namespace penstock {

using namespace ffmpeg;

namespace {

// Our copy of a stream's parameters. A build of FFmpeg that keeps it elsewhere is refused before a pointer is followed.
Parameters* checked_parameters(const Library& lib, Filter* filter) {
  Parameters* given = lib.filter_parameters(filter, false);
  Parameters* fresh = lib.avcodec_parameters_alloc();
  const bool fits =
      given && fresh && std::memcmp(given, fresh, static_cast<size_t>(lib.layout.parameters_height) + 4) == 0;
  if (fresh) lib.avcodec_parameters_free(&fresh);
  if (!fits)
    bad_argument(
        "this build of FFmpeg ({}) has another layout of filter parameters than the releases that Penstock supports",
        lib.version);
  return given;
}

}  // namespace

BitstreamFilter::BitstreamFilter(const VideoFile& file) : lib_(library()) {
  const char* name = file.codec() == "h264"   ? "h264_mp4toannexb"
                     : file.codec() == "hevc" ? "hevc_mp4toannexb"
                                              : nullptr;
  const Listener heard;
  Parameters* parameters = file.parameters();
  try {
    packet_ = lib_.av_packet_alloc();
    if (!packet_) throw std::bad_alloc();
    if (name) {
      const void* kind = lib_.av_bsf_get_by_name(name);
      if (!kind) bad_argument("this FFmpeg ({}) has no filter {}", lib_.version, name);
      if (lib_.av_bsf_alloc(kind, &filter_) < 0) throw std::bad_alloc();
      if (lib_.avcodec_parameters_copy(checked_parameters(lib_, filter_), parameters) < 0) throw std::bad_alloc();
      if (const int code = lib_.av_bsf_init(filter_); code < 0)
        bad_data("the headers of the {} stream are damaged{}", file.codec(), heard.why(code));
      parameters = lib_.filter_parameters(filter_, true);
    }
  } catch (...) {
    close();
    throw;
  }
  const auto headers = lib_.extradata(parameters);
  headers_.assign(headers.begin(), headers.end());
}

BitstreamFilter::~BitstreamFilter() { close(); }

void BitstreamFilter::close() {
  if (filter_) lib_.av_bsf_free(&filter_);
  if (packet_) lib_.av_packet_free(&packet_);
}

void BitstreamFilter::restart() {
  if (filter_) lib_.av_bsf_flush(filter_);
}

std::span<const uint8_t> BitstreamFilter::operator()(const Packet* packet) {
  const Packet* out = packet;
  if (filter_) {
    const Listener heard;
    lib_.av_packet_unref(packet_);
    int code = lib_.av_bsf_send_packet(filter_, const_cast<Packet*>(packet));
    if (code >= 0) code = lib_.av_bsf_receive_packet(filter_, packet_);
    if (code < 0) bad_data("a packet is damaged{}", heard.why(code));
    out = packet_;
  }
  return {out->data, static_cast<size_t>(out->size > 0 ? out->size : 0)};
}

}  // namespace penstock
