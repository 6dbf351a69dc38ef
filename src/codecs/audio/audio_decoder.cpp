// SPDX-License-Identifier: Apache-2.0
#include "codecs/audio/audio_decoder.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "codecs/audio/formats.h"
#include "codecs/audio/mpeg_frames.h"
#include "codecs/image_format.h"

namespace penstock {

namespace {

bool has(AudioBytes file, size_t at, std::string_view bytes) {
  return file.size() >= at + bytes.size() && !std::memcmp(file.data() + at, bytes.data(), bytes.size());
}

// What follows an ID3 tag of version 2. Its length has 7 bits per byte.
AudioBytes after_tag(AudioBytes file) {
  if (!has(file, 0, "ID3") || file.size() < 10) return file;
  const size_t length =
      size_t{file[6] & 127u} << 21 | size_t{file[7] & 127u} << 14 | size_t{file[8] & 127u} << 7 | (file[9] & 127u);
  return file.subspan(std::min(file.size(), 10 + length + (file[5] & 16 ? 10 : 0)));
}

// Files that are containers: a sound track in them does not make them sound files.
bool is_other_container(AudioBytes file) {
  constexpr std::string_view kBegin[] = {"RIFF", "RF64", "OggS", "\x1A\x45\xDF\xA3", "FLV", "\x30\x26\xB2\x75", "PK"};
  return has(file, 4, "ftyp") || has(file, 0, std::string_view("\0\0\1", 3)) || image_format_of(file) ||
         std::ranges::any_of(kBegin, [&](std::string_view begin) { return has(file, 0, begin); });
}

// The file from its first MPEG audio frame on: at the beginning, after a tag, or after unknown bytes. Empty if there is
// none.
AudioBytes from_mpeg_frame(AudioBytes file) {
  const AudioBytes rest = after_tag(file);
  if (has(file, 0, "ID3") ? begins_with_mpeg_frames(rest) : is_mpeg_frame(rest)) return file;
  if (is_other_container(file)) return {};
  for (const AudioBytes part : {rest, file})  // the length in a tag may be wrong
    if (const size_t at = find_mpeg_frames(part); at < part.size()) return part.subspan(at);
  return {};
}

enum class Kind : uint8_t { wav, flac, vorbis, opus, ogg_flac, unknown_ogg, mp3, none };

Kind kind_of(AudioBytes file) {
  if ((has(file, 0, "RIFF") || has(file, 0, "RF64")) && has(file, 8, "WAVE")) return Kind::wav;
  if (has(after_tag(file), 0, "fLaC")) return Kind::flac;
  if (has(file, 0, "OggS")) {
    // The first packet follows the page's segment table.
    const size_t packet = file.size() > 26 ? 27 + size_t{file[26]} : 0;
    return has(file, packet, "\x01vorbis") ? Kind::vorbis
           : has(file, packet, "OpusHead") ? Kind::opus
           : has(file, packet,
                 "\x7F"
                 "FLAC")
               ? Kind::ogg_flac
               : Kind::unknown_ogg;
  }
  return has(file, 0, "ID3") || !from_mpeg_frame(file).empty() ? Kind::mp3 : Kind::none;
}

}  // namespace

const char* sniff_sound(AudioBytes file) {
  switch (kind_of(file)) {
    case Kind::wav: return "wav";
    case Kind::flac: return "flac";
    case Kind::mp3: return "mp3";
    case Kind::none: return nullptr;
    default: return "ogg";
  }
}

std::unique_ptr<AudioFile> open_audio(AudioBytes file) {
  if (file.empty()) bad_data("the file is empty");
  switch (kind_of(file)) {
    case Kind::wav: return open_wav(file);
    case Kind::flac: return open_flac(after_tag(file));
    case Kind::vorbis: return open_vorbis(file);
    case Kind::opus: return open_opus(file);
    case Kind::ogg_flac: return open_flac(file);
    case Kind::unknown_ogg: bad_data("Ogg: the stream is not Vorbis, Opus or FLAC");
    case Kind::mp3: {
      const AudioBytes frames = from_mpeg_frame(file);
      return open_mp3(frames.empty() ? file : frames);
    }
    case Kind::none: break;
  }
  bad_data("not a WAV, FLAC, Ogg or MP3 file{}", has(file, 4, "ftyp") ? "; it looks like MP4" : "");
}

}  // namespace penstock
