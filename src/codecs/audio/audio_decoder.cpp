// SPDX-License-Identifier: Apache-2.0
#include "codecs/audio/audio_decoder.h"

#include <algorithm>
#include <string_view>

#include "codecs/audio/formats.h"

namespace penstock {

namespace {

bool has(AudioBytes file, size_t at, std::string_view bytes) {
  return file.size() >= at + bytes.size() &&
         std::equal(bytes.begin(), bytes.end(), file.begin() + static_cast<long>(at));
}

// An MPEG audio frame's header: of a version, a layer, a bit rate and a sample rate that there are.
bool has_mpeg_frame(AudioBytes file) {
  return file.size() >= 4 && file[0] == 0xFF && (file[1] & 0xE0) == 0xE0 && (file[1] & 0x18) != 0x08 &&
         (file[1] & 0x06) != 0 && (file[2] & 0xF0) != 0xF0 && (file[2] & 0x0C) != 0x0C;
}

// What stands behind an ID3 tag, version 2: its length has 7 bits a byte.
AudioBytes behind_tag(AudioBytes file) {
  if (!has(file, 0, "ID3") || file.size() < 10) return file;
  const size_t length =
      size_t{file[6] & 127u} << 21 | size_t{file[7] & 127u} << 14 | size_t{file[8] & 127u} << 7 | (file[9] & 127u);
  return file.subspan(std::min(file.size(), 10 + length + (file[5] & 16 ? 10 : 0)));
}

}  // namespace

std::unique_ptr<AudioFile> open_audio(AudioBytes file) {
  if (file.empty()) bad_data("the file is empty");
  if ((has(file, 0, "RIFF") || has(file, 0, "RF64")) && has(file, 8, "WAVE")) return open_wav(file);
  if (const AudioBytes flac = behind_tag(file); has(flac, 0, "fLaC")) return open_flac(flac);
  if (has(file, 0, "OggS")) {
    // The first packet stands behind the page's table of segments.
    const size_t packet = file.size() > 26 ? 27 + size_t{file[26]} : 0;
    if (has(file, packet, "\x01vorbis")) return open_vorbis(file);
    if (has(file, packet, "OpusHead")) return open_opus(file);
    if (has(file, packet, "\x7F" "FLAC")) return open_flac(file);
    bad_data("Ogg: neither Vorbis nor Opus nor FLAC");
  }
  if (has(file, 0, "ID3") || has_mpeg_frame(file)) return open_mp3(file);
  bad_data("not a WAV, FLAC, Ogg or MP3 file{}", has(file, 4, "ftyp") ? "; it looks like MP4" : "");
}

}  // namespace penstock
