// SPDX-License-Identifier: Apache-2.0
// Ogg Vorbis through libvorbisfile.
#include <vorbis/vorbisfile.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "codecs/audio/formats.h"

namespace penstock {

namespace {

struct Session {
  AudioBytes file;
  size_t at = 0;
  OggVorbis_File ogg{};
  bool open = false;

  explicit Session(AudioBytes bytes) : file(bytes) {
    const ov_callbacks callbacks{read, seek, nullptr, tell};
    if (const int code = ov_open_callbacks(this, &ogg, nullptr, 0, callbacks))
      bad_data("Vorbis: {}", code == OV_EBADHEADER ? "the header is damaged" : code == OV_EVERSION ? "of an unknown version" : "the file cannot be read");
    open = true;
    for (int i = 1; i < ov_streams(&ogg); ++i)
      if (ov_info(&ogg, i)->channels != ov_info(&ogg, 0)->channels || ov_info(&ogg, i)->rate != ov_info(&ogg, 0)->rate) {
        ov_clear(&ogg);
        bad_data("Vorbis: channels or rate change in stream {}", i);
      }
  }
  Session(const Session&) = delete;
  ~Session() {
    if (open) ov_clear(&ogg);
  }

 private:
  static size_t read(void* to, size_t size, size_t count, void* user) {
    auto& s = *static_cast<Session*>(user);
    const size_t bytes = size ? std::min(count, (s.file.size() - s.at) / size) * size : 0;
    std::memcpy(to, s.file.data() + s.at, bytes);
    s.at += bytes;
    return size ? bytes / size : 0;
  }
  static int seek(void* user, ogg_int64_t offset, int from) {
    auto& s = *static_cast<Session*>(user);
    const int64_t base = from == SEEK_CUR ? static_cast<int64_t>(s.at) : from == SEEK_END ? static_cast<int64_t>(s.file.size()) : 0;
    if (offset < -base || offset > static_cast<int64_t>(s.file.size()) - base) return -1;
    s.at = static_cast<size_t>(base + offset);
    return 0;
  }
  static long tell(void* user) { return static_cast<long>(static_cast<Session*>(user)->at); }
};

class VorbisFile final : public AudioFile {
 public:
  explicit VorbisFile(AudioBytes file) : session_(file) {
    const vorbis_info* info = ov_info(&session_.ogg, -1);
    const int64_t length = ov_pcm_total(&session_.ogg, -1);
    // A packet takes at least a byte and gives at most 8,192 samples.
    if (length < 0 || length > static_cast<int64_t>(file.size()) * 8192) bad_data("Vorbis: {} bytes cannot hold {} samples", file.size(), length);
    if (info->channels < 1 || info->channels > kMostAudioChannels || info->rate < 1)
      bad_data("Vorbis: the header says {} channels, {} samples a second", info->channels, info->rate);
    info_ = {"vorbis", length, info->channels, static_cast<double>(info->rate), false};
  }
  void decode(const AudioSink& sink) override {
    std::vector<float> block;
    for (int64_t done = 0; done < info_.length;) {
      float** planes = nullptr;
      int section = 0;
      const long got = ov_read_float(&session_.ogg, &planes, 4096, &section);
      if (got == 0) bad_data("Vorbis: premature end of file at sample {} of {}", done, info_.length);
      if (got < 0) bad_data("Vorbis: the data are damaged at sample {}", done);
      const int64_t n = std::min<int64_t>(got, info_.length - done);
      block.resize(static_cast<size_t>(n) * info_.channels);
      for (int c = 0; c < info_.channels; ++c)
        for (int64_t i = 0; i < n; ++i) block[i * info_.channels + c] = planes[c][i];
      sink.reals(block.data(), n);
      done += n;
    }
  }

 private:
  Session session_;
};

}  // namespace

std::unique_ptr<AudioFile> open_vorbis(AudioBytes file) { return std::make_unique<VorbisFile>(file); }

}  // namespace penstock
