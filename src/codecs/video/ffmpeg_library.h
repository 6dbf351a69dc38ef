// SPDX-License-Identifier: Apache-2.0
// FFmpeg's shared libraries, as found at run time. Nothing is linked and none of their headers is needed: functions are
// loaded by name, and the few members without an accessor function are read at offsets that are known for each major
// version (docs/decisions/0017-ffmpeg-at-run-time.md).
#pragma once
#include <cstdarg>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"

namespace penstock::ffmpeg {

struct FormatContext;
struct IoContext;
struct Stream;
struct Parameters;
struct CodecContext;
struct Codec;
struct Dictionary;
struct Scaler;
struct Filter;  // AVBSFContext
struct Rational {
  int num = 0, den = 1;
};

// The beginnings of structs that are the same in all known versions.
struct Packet {
  void* buffer;
  int64_t pts, dts;
  uint8_t* data;
  int size, stream_index, flags;
  void* side_data;
  int side_data_elements;
  int64_t duration, position;
};
struct Frame {
  uint8_t* data[8];
  int linesize[8];
  uint8_t** extended_data;
  int width, height, samples, format;
  int version_dependent[4];
  int64_t pts;
};

constexpr int64_t kNoPts = INT64_MIN;
constexpr int kPacketKey = 1, kPacketDiscard = 4;
constexpr int kSeekBackward = 1;
constexpr int kEndOfFile = -('E' | 'O' << 8 | 'F' << 16 | ' ' << 24), kTryAgain = -11, kIoError = -5, kInvalid = -22;
constexpr int kNoData = -('I' | 'N' << 8 | 'D' << 16 | 'A' << 24);
constexpr int kSeekSize = 0x10000, kSeekForce = 0x20000;
constexpr int kRgb24 = 2, kYuv444 = 5, kBicubic = 4;

// Offsets in bytes of the members that differ between versions.
struct Layout {
  int format_major;
  int stream_parameters, stream_time_base, stream_start_time, stream_frames, stream_discard;
  int parameters_format, parameters_width, parameters_height;
  int filter_parameters;  // AVBSFContext::par_in; par_out follows it
};

struct Library {
  Layout layout{};
  std::string version;  // "libavformat 59.27.100, libavcodec 59.37.100, ...; folder"

  const char* (*avcodec_get_name)(int);
  CodecContext* (*avcodec_alloc_context3)(const Codec*);
  void (*avcodec_free_context)(CodecContext**);
  int (*avcodec_parameters_to_context)(CodecContext*, const Parameters*);
  int (*avcodec_parameters_copy)(Parameters*, const Parameters*);
  Parameters* (*avcodec_parameters_alloc)();
  void (*avcodec_parameters_free)(Parameters**);
  const Codec* (*avcodec_find_decoder)(int);
  int (*avcodec_open2)(CodecContext*, const Codec*, Dictionary**);
  int (*avcodec_send_packet)(CodecContext*, const Packet*);
  int (*avcodec_receive_frame)(CodecContext*, Frame*);
  void (*avcodec_flush_buffers)(CodecContext*);
  Packet* (*av_packet_alloc)();
  void (*av_packet_free)(Packet**);
  void (*av_packet_unref)(Packet*);
  const void* (*av_bsf_get_by_name)(const char*);
  int (*av_bsf_alloc)(const void*, Filter**);
  int (*av_bsf_init)(Filter*);
  int (*av_bsf_send_packet)(Filter*, Packet*);
  int (*av_bsf_receive_packet)(Filter*, Packet*);
  void (*av_bsf_flush)(Filter*);
  void (*av_bsf_free)(Filter**);

  FormatContext* (*avformat_alloc_context)();
  void (*avformat_free_context)(FormatContext*);
  Stream* (*avformat_new_stream)(FormatContext*, const Codec*);
  int (*avformat_open_input)(FormatContext**, const char*, const void*, Dictionary**);
  void (*avformat_close_input)(FormatContext**);
  int (*avformat_find_stream_info)(FormatContext*, Dictionary**);
  int (*av_find_best_stream)(FormatContext*, int, int, int, const Codec**, int);
  int (*av_read_frame)(FormatContext*, Packet*);
  int (*av_seek_frame)(FormatContext*, int, int64_t, int);
  Rational (*av_guess_frame_rate)(FormatContext*, Stream*, Frame*);
  IoContext* (*avio_alloc_context)(uint8_t*, int, int, void*, int (*)(void*, uint8_t*, int),
                                   int (*)(void*, uint8_t*, int), int64_t (*)(void*, int64_t, int));
  void (*avio_context_free)(IoContext**);

  Frame* (*av_frame_alloc)();
  void (*av_frame_free)(Frame**);
  void (*av_frame_unref)(Frame*);
  void* (*av_malloc)(size_t);
  void (*av_free)(void*);
  int (*av_dict_set)(Dictionary**, const char*, const char*, int);
  void (*av_dict_free)(Dictionary**);
  int (*av_opt_set_int)(void*, const char*, int64_t, int);
  int (*av_opt_get_int)(void*, const char*, int, int64_t*);
  int (*av_strerror)(int, char*, size_t);
  void (*av_log_set_callback)(void (*)(void*, int, const char*, va_list));
  void (*av_log_default_callback)(void*, int, const char*, va_list);
  const char* (*av_get_pix_fmt_name)(int);

  Scaler* (*sws_getContext)(int, int, int, int, int, int, int, void*, void*, const double*);
  void (*sws_freeContext)(Scaler*);
  int (*sws_scale)(Scaler*, const uint8_t* const*, const int*, int, int, uint8_t* const*, const int*);
  const int* (*sws_getCoefficients)(int);
  int (*sws_getColorspaceDetails)(Scaler*, int**, int*, int**, int*, int*, int*, int*);
  int (*sws_setColorspaceDetails)(Scaler*, const int*, int, const int*, int, int, int, int);

  // Members by their offset.
  template <class T> static T& at(void* object, int offset) {
    return *reinterpret_cast<T*>(static_cast<char*>(object) + offset);
  }
  void set_io(FormatContext* f, IoContext* io) const { at<IoContext*>(f, 32) = io; }
  const char* format_name(FormatContext* f) const {  // FormatContext::iformat->name
    void* input = at<void*>(f, 8);
    return input ? at<const char*>(input, 0) : "";
  }
  unsigned streams(FormatContext* f) const { return at<unsigned>(f, 44); }
  Stream* stream(FormatContext* f, unsigned i) const { return at<Stream**>(f, 48)[i]; }
  Parameters* parameters(Stream* s) const { return at<Parameters*>(s, layout.stream_parameters); }
  Rational time_base(Stream* s) const { return at<Rational>(s, layout.stream_time_base); }
  void discard(Stream* s) const { at<int>(s, layout.stream_discard) = 48; }  // all packets
  int codec_id(const Parameters* p) const { return at<int>(const_cast<Parameters*>(p), 4); }
  std::span<const uint8_t> extradata(Parameters* p) const {
    const int size = at<int>(p, 24);
    return {at<const uint8_t*>(p, 16), static_cast<size_t>(size > 0 ? size : 0)};
  }
  Parameters* filter_parameters(Filter* f, bool out) const {
    return at<Parameters*>(f, layout.filter_parameters + (out ? static_cast<int>(sizeof(void*)) : 0));
  }
  int width(Parameters* p) const { return at<int>(p, layout.parameters_width); }
  int pixel_format(Parameters* p) const { return at<int>(p, layout.parameters_format); }
  int height(Parameters* p) const { return at<int>(p, layout.parameters_height); }
  uint8_t*& io_buffer(IoContext* io) const { return at<uint8_t*>(io, 8); }
};

// Loads the libraries on the first call: those in the folder PENSTOCK_FFMPEG, else the newest on the system, of FFmpeg
// 4.4 to 8. Error (argument) if there are none, with what to install.
const Library& library();

// While one exists, FFmpeg's messages on this thread are kept, not printed. The innermost of nested ones keeps them.
class Listener {
 public:
  Listener();
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  // ": " and the first message since then, or the meaning of the code.
  std::string why(int code) const;
  bool complained() const { return !said_.empty(); }

 private:
  friend void hear(void*, int, const char*, va_list);
  std::string said_;
  Listener* before_;
};

}  // namespace penstock::ffmpeg
