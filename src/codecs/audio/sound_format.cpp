// SPDX-License-Identifier: Apache-2.0
#include "codecs/audio/sound_format.h"

#include <algorithm>
#include <cstring>

#include "codecs/file_formats.h"

namespace penstock {

namespace {

// Never destroyed: programs decode until they end.
std::vector<const SoundFormat*>& registered() {
  static auto* formats = new std::vector<const SoundFormat*>;
  return *formats;
}

}  // namespace

bool register_sound_format(SoundFormat format) {
  auto& formats = registered();
  const auto after = std::ranges::upper_bound(formats, format.place, {}, &SoundFormat::place);
  formats.insert(after, new SoundFormat(std::move(format)));
  return true;
}

std::span<const SoundFormat* const> sound_formats() { return registered(); }

const SoundFormat* sound_format_of(AudioBytes file) {
  for (const SoundFormat* format : registered())
    if (format->begins(file)) return format;
  return nullptr;
}

std::unique_ptr<AudioFile> open_audio(AudioBytes file) {
  if (file.empty()) bad_data("the file is empty");
  if (const SoundFormat* format = sound_format_of(file)) return format->open(file);
  bad_data("not a {} file{}", shown_names(FileFormat::sound, "or"),
           has_at(file, 4, "ftyp") ? "; it looks like MP4" : "");
}

bool has_at(AudioBytes file, size_t at, std::string_view bytes) {
  return file.size() >= at + bytes.size() && !std::memcmp(file.data() + at, bytes.data(), bytes.size());
}

AudioBytes after_id3_tag(AudioBytes file) {
  if (!has_at(file, 0, "ID3") || file.size() < 10) return file;
  // The length of a tag has 7 bits per byte.
  const size_t length =
      size_t{file[6] & 127u} << 21 | size_t{file[7] & 127u} << 14 | size_t{file[8] & 127u} << 7 | (file[9] & 127u);
  return file.subspan(std::min(file.size(), 10 + length + (file[5] & 16 ? 10 : 0)));
}

}  // namespace penstock
