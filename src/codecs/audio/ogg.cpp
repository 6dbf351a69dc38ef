// SPDX-License-Identifier: Apache-2.0
// Ogg (RFC 3533): what its first packet begins with says which codec decodes it.
#include "codecs/audio/ogg.h"

#include "codecs/audio/ogg_packets.h"
#include "codecs/audio/sound_format.h"

namespace penstock {

namespace {

std::unique_ptr<AudioFile> open_ogg(AudioBytes file) {
  // The first packet follows the page's segment table.
  const size_t packet = file.size() > 26 ? 27 + size_t{file[26]} : 0;
  if (has_at(file, packet, "\x01vorbis")) return open_vorbis(file);
  if (has_at(file, packet, "OpusHead")) return open_opus(file);
  constexpr std::string_view kFlac("\x7F\x46LAC");
  if (has_at(file, packet, kFlac)) return open_flac(file);
  bad_data("Ogg: the stream is not Vorbis, Opus or FLAC");
}

PENSTOCK_SOUND_FORMAT({
    .id = "ogg",
    .title = "Ogg",
    .place = 30,
    .find = [](AudioBytes file) { return has_at(file, 0, "OggS") ? file : AudioBytes{}; },
    .open = open_ogg,
    .suffixes = {".ogg", ".oga", ".opus"},
    .read_by_default = {110, {".ogg"}},
    .own_end = ogg_end,
});

}  // namespace

}  // namespace penstock
