// SPDX-License-Identifier: Apache-2.0
#include "codecs/audio/sound_format.h"

#include <algorithm>
#include <utility>

#include "codecs/file_formats.h"
#include "codecs/plugin_formats.h"

namespace penstock {

namespace {

PluginFormats<SoundFormat>& registered() {
  static auto* formats = new PluginFormats<SoundFormat>("sound");
  return *formats;
}

}  // namespace

bool register_sound_format(SoundFormat format) {
  registered().add(std::move(format));
  return true;
}

std::span<const SoundFormat* const> sound_formats() { return registered().all(); }

FoundSound find_sound(AudioBytes file) {
  for (const SoundFormat* format : sound_formats())
    if (const AudioBytes found = format->find(file); !found.empty()) return {format, found};
  return {};
}

std::unique_ptr<AudioFile> open_audio(AudioBytes file) {
  if (file.empty()) bad_data("the file is empty");
  if (const FoundSound found = find_sound(file); found.format) return found.format->open(found.bytes);
  bad_data("not a {} file{}", shown_names(FileFormat::sound, "or"),
           has_at(file, 4, "ftyp") ? "; it looks like MP4" : "");
}

AudioBytes after_id3_tag(AudioBytes file) {
  if (!has_at(file, 0, "ID3") || file.size() < 10) return file;
  // The length of a tag has 7 bits per byte.
  const size_t length =
      size_t{file[6] & 127u} << 21 | size_t{file[7] & 127u} << 14 | size_t{file[8] & 127u} << 7 | (file[9] & 127u);
  return file.subspan(std::min(file.size(), 10 + length + (file[5] & 16 ? 10 : 0)));
}

}  // namespace penstock
