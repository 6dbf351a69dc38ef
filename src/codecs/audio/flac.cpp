// SPDX-License-Identifier: Apache-2.0
// FLAC (RFC 9639), native or in Ogg.
#include <algorithm>
#include <cstring>

#include "codecs/audio/flac_frames.h"
#include "codecs/audio/ogg.h"
#include "codecs/audio/ogg_packets.h"
#include "codecs/audio/sound_format.h"
#include "codecs/byte_order.h"
#include "codecs/decode_errors.h"

namespace penstock {

namespace {

struct Stream {
  int channels = 0, bits = 0;
  uint32_t rate = 0;
  uint64_t total = 0;  // samples; 0: not known when the header was written
  size_t frames = 0;   // offset of the first frame
};

// The metadata blocks between "fLaC" and the frames. Reads only the STREAMINFO block.
Stream read_blocks(AudioBytes file) {
  constexpr size_t kHead = 4, kDescription = 34;
  Stream s;
  bool is_described = false, is_last = false;
  size_t at = 4;
  while (!is_last) {
    if (at > file.size() || file.size() - at < kHead) ends_early("FLAC: the file ends in the header");
    is_last = file[at] & 128;
    const int kind = file[at] & 127;
    const size_t length = be32(&file[at]) & 0xFFFFFF, room = file.size() - at - kHead;
    at += kHead;
    if (length > room) ends_early("FLAC: the file ends in the header, in a block of {} bytes at byte {}", length, at);
    if (kind == 0 && !is_described) {
      if (length < kDescription) bad_data("FLAC: the STREAMINFO block has only {} bytes", length);
      const uint64_t numbers = uint64_t{be32(&file[at + 10])} << 32 | be32(&file[at + 14]);
      s.rate = static_cast<uint32_t>(numbers >> 44);
      s.channels = static_cast<int>(numbers >> 41 & 7) + 1;
      s.bits = static_cast<int>(numbers >> 36 & 31) + 1;
      s.total = numbers & 0xFFFFFFFFF;
      is_described = true;
    }
    at += length;
  }
  s.frames = at;
  if (!is_described) bad_data("FLAC: no STREAMINFO block precedes the frames");
  if (s.bits < 4 || s.rate < 1)
    bad_data("FLAC: the header says {} channels of {} bits, {} samples per second", s.channels, s.bits, s.rate);
  return s;
}

class FlacFile final : public AudioFile {
 public:
  explicit FlacFile(AudioBytes file) : file_(file) {
    if (file[0] == 'O') {
      joined_ = join_ogg_packets(file);
      constexpr uint8_t kHead[] = {127, 'F', 'L', 'A', 'C', 1}, kMark[] = {'f', 'L', 'a', 'C'};
      if (joined_.size() < kOggHead + sizeof kMark || std::memcmp(joined_.data(), kHead, sizeof kHead) ||
          std::memcmp(joined_.data() + kOggHead, kMark, sizeof kMark))
        bad_data("FLAC: Ogg: the first packet is damaged");
      file_ = AudioBytes(joined_).subspan(kOggHead);
    }
    stream_ = read_blocks(file_);
    // A frame has at least 11 bytes and at most 65,535 samples.
    if (stream_.total > (file_.size() / 11 + 1) * 65535)
      ends_early("FLAC: premature end of file: {} bytes cannot hold {} samples", file_.size(), stream_.total);
    info_ = {"flac", static_cast<int64_t>(stream_.total), stream_.channels, static_cast<double>(stream_.rate), true};
    if (stream_.total == 0) info_.length = decode_until(INT64_MAX, ignore);
    if (is_doubtful(info_, file_.size())) decode(ignore);
  }
  void decode(const AudioSink& sink) override {
    const int64_t done = decode_until(info_.length, sink);
    if (done < info_.length) ends_early("FLAC: premature end of file at sample {} of {}", done, info_.length);
  }

 private:
  static constexpr size_t kOggHead = 9;  // bytes before "fLaC" in the first packet
  AudioBytes file_;
  std::vector<uint8_t> joined_;
  Stream stream_;

  // Returns the number of samples decoded.
  int64_t decode_until(int64_t length, const AudioSink& sink) const {
    FlacFrames frames(file_, stream_.frames, stream_.channels, stream_.bits, length);
    int64_t done = 0;
    while (frames.next([&](const int32_t* const* planes, int64_t n) {
      const int64_t some = std::min(n, length - done);
      sink(AudioPlanes<int32_t>{planes, 32 - stream_.bits}, some);
      done += some;
    })) {
    }
    return done;
  }
};

PENSTOCK_SOUND_FORMAT({
    .id = "flac",
    .title = "FLAC",
    .place = 20,
    .find =
        [](AudioBytes file) {
          const AudioBytes rest = after_id3_tag(file);
          return has_at(rest, 0, "fLaC") ? rest : AudioBytes{};
        },
    .open = open_flac,
    .suffixes = {".flac"},
    .read_by_default = {100, {".flac"}},
});

}  // namespace

std::unique_ptr<AudioFile> open_flac(AudioBytes file) { return std::make_unique<FlacFile>(file); }

}  // namespace penstock
