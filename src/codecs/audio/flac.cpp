// SPDX-License-Identifier: Apache-2.0
// FLAC, by itself or in Ogg, through libFLAC.
#include <FLAC/stream_decoder.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "codecs/audio/formats.h"

namespace penstock {

namespace {

struct Session {
  AudioBytes file;
  const AudioSink* sink = nullptr;
  size_t at = 0;
  int64_t frames = 0, wanted = -1;
  int channels = 0, bits = 0;
  uint32_t rate = 0;
  uint64_t total = 0;
  bool described = false, changed = false;
  const char* fault = nullptr;
};

Session& of(void* user) { return *static_cast<Session*>(user); }

FLAC__StreamDecoderReadStatus read(const FLAC__StreamDecoder*, FLAC__byte* to, size_t* bytes, void* user) {
  Session& s = of(user);
  *bytes = std::min(*bytes, s.file.size() - s.at);
  std::memcpy(to, s.file.data() + s.at, *bytes);
  s.at += *bytes;
  return *bytes ? FLAC__STREAM_DECODER_READ_STATUS_CONTINUE : FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM;
}

FLAC__StreamDecoderWriteStatus write(const FLAC__StreamDecoder*, const FLAC__Frame* frame, const FLAC__int32* const* in,
                                     void* user) {
  Session& s = of(user);
  const int64_t n = frame->header.blocksize;
  if (static_cast<int>(frame->header.channels) != s.channels ||
      static_cast<int>(frame->header.bits_per_sample) != s.bits) {
    s.changed = true;
    return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
  }
  const int64_t some = s.wanted < 0 ? n : std::min(n, s.wanted - s.frames);
  s.frames += some;
  if (!s.sink) return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
  (*s.sink)(AudioPlanes<int32_t>{in, 32 - s.bits}, some);
  return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

void describe(const FLAC__StreamDecoder*, const FLAC__StreamMetadata* m, void* user) {
  Session& s = of(user);
  if (m->type != FLAC__METADATA_TYPE_STREAMINFO || s.described) return;
  s.described = true;
  s.channels = static_cast<int>(m->data.stream_info.channels);
  s.bits = static_cast<int>(m->data.stream_info.bits_per_sample);
  s.rate = m->data.stream_info.sample_rate;
  s.total = m->data.stream_info.total_samples;
}

void on_error(const FLAC__StreamDecoder*, FLAC__StreamDecoderErrorStatus status, void* user) {
  Session& s = of(user);
  if (!s.fault) s.fault = FLAC__StreamDecoderErrorStatusString[status];
}

class FlacFile final : public AudioFile {
 public:
  explicit FlacFile(AudioBytes file) : decoder_(FLAC__stream_decoder_new(), FLAC__stream_decoder_delete) {
    if (!decoder_) throw std::bad_alloc();
    s_.file = file;
    start();
    if (s_.total == 0) {  // not known when the header was written
      read_all();
      const auto counted = static_cast<uint64_t>(s_.frames);
      start_again();
      s_.total = counted;
    }
    info_ = {"flac", static_cast<int64_t>(s_.total), s_.channels, static_cast<double>(s_.rate), true};
    if (is_doubtful(info_, file.size())) decode(ignore), start_again();
  }
  void decode(const AudioSink& sink) override {
    s_.sink = &sink, s_.wanted = info_.length;
    read_all();
    if (s_.frames < info_.length) bad_data("FLAC: premature end of file at sample {} of {}", s_.frames, info_.length);
  }

 private:
  Session s_;
  std::unique_ptr<FLAC__StreamDecoder, void (*)(FLAC__StreamDecoder*)> decoder_;

  // Reads what stands in front of the samples.
  void start() {
    const bool ogg = s_.file[0] == 'O';
    const auto init = ogg ? FLAC__stream_decoder_init_ogg_stream : FLAC__stream_decoder_init_stream;
    if (init(decoder_.get(), read, nullptr, nullptr, nullptr, nullptr, write, describe, on_error, &s_) !=
        FLAC__STREAM_DECODER_INIT_STATUS_OK)
      bad_data("FLAC: this libFLAC cannot read {}", ogg ? "Ogg files" : "the file");
    if (!FLAC__stream_decoder_process_until_end_of_metadata(decoder_.get()) || !s_.described)
      bad_data("FLAC: {}", s_.fault ? s_.fault : "the file ends in the header");
    if (s_.channels < 1 || s_.bits < 4 || s_.bits > 32 || s_.rate < 1)
      bad_data("FLAC: the header says {} channels of {} bits, {} a second", s_.channels, s_.bits, s_.rate);
    // A frame takes at least 11 bytes and has at most 65,535 samples.
    if (s_.total > (s_.file.size() / 11 + 1) * 65535)
      bad_data("FLAC: premature end of file: {} bytes cannot hold {} samples", s_.file.size(), s_.total);
  }
  void start_again() {
    FLAC__stream_decoder_finish(decoder_.get());
    s_ = {.file = s_.file};
    start();
  }
  void read_all() {
    FLAC__stream_decoder_process_until_end_of_stream(decoder_.get());
    if (s_.changed) bad_data("FLAC: channels or bits change at sample {}", s_.frames);
    if (s_.fault) bad_data("FLAC: {} near sample {}", s_.fault, s_.frames);
  }
};

}  // namespace

std::unique_ptr<AudioFile> open_flac(AudioBytes file) { return std::make_unique<FlacFile>(file); }

}  // namespace penstock
