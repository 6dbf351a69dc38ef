// SPDX-License-Identifier: Apache-2.0
#include "codecs/audio/audio_decoder.h"

#include <algorithm>
#include <string_view>

#include "codecs/audio/formats.h"

namespace penstock {

namespace {

struct Format {
  AudioInfo (*probe)(AudioBytes);
  void (*decode)(AudioBytes, const AudioInfo&, const AudioSink&);
};

bool has(AudioBytes file, size_t at, std::string_view bytes) {
  return file.size() >= at + bytes.size() && std::equal(bytes.begin(), bytes.end(), file.begin() + static_cast<long>(at));
}

Format format_of(AudioBytes file) {
  if (file.empty()) bad_data("the file is empty");
  if ((has(file, 0, "RIFF") || has(file, 0, "RF64")) && has(file, 8, "WAVE")) return {probe_wav, decode_wav};
  if (has(file, 0, "fLaC")) return {probe_flac, decode_flac};
  if (has(file, 0, "OggS")) {
    // The first packet stands behind the page's table of segments.
    const size_t packet = file.size() > 26 ? 27 + size_t{file[26]} : 0;
    if (has(file, packet, "\x01vorbis")) return {probe_vorbis, decode_vorbis};
    if (has(file, packet, "OpusHead")) return {probe_opus, decode_opus};
    if (has(file, packet, "\x7F" "FLAC")) return {probe_flac, decode_flac};
    bad_data("Ogg: neither Vorbis nor Opus nor FLAC");
  }
  const bool mp3 = has(file, 0, "ID3") || (file.size() > 1 && file[0] == 0xFF && (file[1] & 0xE0) == 0xE0);
  bad_data("not a WAV, FLAC or Ogg file{}", mp3 ? "; it looks like MP3" : has(file, 4, "ftyp") ? "; it looks like MP4" : "");
}

}  // namespace

AudioInfo probe_audio(AudioBytes file) { return format_of(file).probe(file); }

void decode_audio(AudioBytes file, const AudioInfo& info, const AudioSink& sink) {
  format_of(file).decode(file, info, sink);
}

}  // namespace penstock
