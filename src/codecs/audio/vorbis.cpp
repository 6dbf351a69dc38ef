// SPDX-License-Identifier: Apache-2.0
// Ogg Vorbis through libvorbisfile. A file of several concatenated streams is first split into them: if the headers of
// a later stream are damaged, libvorbisfile loses what it has read. So it gets one stream at a time.
#include <vorbis/vorbisfile.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "codecs/audio/ogg.h"
#include "codecs/audio/sound_format.h"
#include "codecs/audio/ogg_packets.h"
#include "codecs/decode_errors.h"

namespace penstock {

namespace {

struct Session {
  AudioBytes file;
  size_t at = 0;
  OggVorbis_File ogg{};
  bool open = false;

  // With `forward`, the stream is read once from start to end, whatever its last page says.
  Session(AudioBytes bytes, bool forward) : file(bytes) {
    const ov_callbacks callbacks{read, forward ? nullptr : seek, nullptr, forward ? nullptr : tell};
    if (const int code = ov_open_callbacks(this, &ogg, nullptr, 0, callbacks))
      bad_data("Vorbis: {}", code == OV_EBADHEADER ? "the header is damaged"
                             : code == OV_EVERSION ? "unknown version"
                                                   : "the file cannot be read");
    open = true;
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
    const int64_t base = from == SEEK_CUR   ? static_cast<int64_t>(s.at)
                         : from == SEEK_END ? static_cast<int64_t>(s.file.size())
                                            : 0;
    if (offset < -base || offset > static_cast<int64_t>(s.file.size()) - base) return -1;
    s.at = static_cast<size_t>(base + offset);
    return 0;
  }
  static long tell(void* user) { return static_cast<long>(static_cast<Session*>(user)->at); }
};

// Each stream begins with one or more pages that say so (RFC 3533, section 6).
std::vector<AudioBytes> streams_of(AudioBytes file) {
  constexpr char kPage[] = {'O', 'g', 'g', 'S', 0};
  constexpr uint8_t kBegins = 2;
  std::vector<AudioBytes> streams;
  size_t begin = 0, at = 0;
  bool began = true;
  while (const void* page = memmem(file.data() + at, file.size() - at, kPage, sizeof kPage)) {
    at = static_cast<size_t>(static_cast<const uint8_t*>(page) - file.data());
    const bool begins = at + sizeof kPage < file.size() && (file[at + sizeof kPage] & kBegins);
    if (begins && !began) streams.push_back(file.subspan(begin, at - begin)), begin = at;
    began = begins;
    ++at;
  }
  streams.push_back(file.subspan(begin));
  return streams;
}

class VorbisFile final : public AudioFile {
 public:
  explicit VorbisFile(AudioBytes file) : streams_(streams_of(file)) {
    info_.format = "vorbis";
    for (size_t i = streams_.size(); i-- > 0;) {  // the first one, which is decoded first, stays open
      open(i);
      const vorbis_info info = *ov_info(&session_->ogg, -1);  // a copy: counted() reopens the stream
      const int64_t length = is_open_ended(i) ? counted(i) : ov_pcm_total(&session_->ogg, -1);
      // A packet has at least one byte and at most 8,192 samples.
      if (length < 0 || length > static_cast<int64_t>(streams_[i].size()) * 8192)
        bad_data("Vorbis: {} bytes cannot hold {} samples", streams_[i].size(), length);
      if (info.channels < 1 || info.channels > kMostAudioChannels || info.rate < 1)
        bad_data("Vorbis: the header says {} channels, {} samples per second", info.channels, info.rate);
      if (i + 1 < streams_.size() && (info.channels != info_.channels || info.rate != info_.rate))
        bad_data("Vorbis: the number of channels or the sample rate changes in stream {}", i + 1);
      info_.channels = info.channels, info_.rate = static_cast<double>(info.rate), info_.length += length;
      lengths_.insert(lengths_.begin(), length);
    }
    if (is_doubtful(info_, file.size())) decode(ignore), open(0);
  }
  void decode(const AudioSink& sink) override {
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (i > 0) open(i);
      decode_stream(lengths_[i], sink);
    }
  }

 private:
  std::vector<AudioBytes> streams_;
  std::vector<int64_t> lengths_;
  std::unique_ptr<Session> session_;

  // If no packet ends in the last page, no position gives the number of samples.
  bool is_open_ended(size_t i) const { return last_ogg_page_is_open(streams_[i]); }
  void open(size_t i) {
    session_.reset();
    session_ = std::make_unique<Session>(streams_[i], is_open_ended(i));
  }
  // Counts the samples by decoding them; the stream is at its beginning before and afterwards.
  int64_t counted(size_t i) {
    int64_t length = 0;
    for (;;) {
      float** planes = nullptr;
      int section = 0;
      const long got = ov_read_float(&session_->ogg, &planes, 4096, &section);
      if (got < 0) bad_data("Vorbis: the data is damaged at sample {}", length);
      if (got == 0) break;
      length += got;
    }
    open(i);
    return length;
  }

  void decode_stream(int64_t length, const AudioSink& sink) {
    for (int64_t done = 0; done < length;) {
      float** planes = nullptr;
      int section = 0;
      const long got = ov_read_float(&session_->ogg, &planes, 4096, &section);
      if (got == 0) ends_early("Vorbis: premature end of file at sample {} of {}", done, length);
      if (got < 0) bad_data("Vorbis: the data is damaged at sample {}", done);
      const int64_t n = std::min<int64_t>(got, length - done);
      sink(AudioPlanes<float>{planes}, n);
      done += n;
    }
  }
};

}  // namespace

std::unique_ptr<AudioFile> open_vorbis(AudioBytes file) { return std::make_unique<VorbisFile>(file); }

}  // namespace penstock
