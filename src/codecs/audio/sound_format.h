// SPDX-License-Identifier: Apache-2.0
// What a format of recorded sound is: its file ends in PENSTOCK_SOUND_FORMAT({...}). The test of a file's first bytes,
// messages, `penstock verify`, the patterns of readers and the lists of the documentation come from that.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "codecs/audio/audio_decoder.h"
#include "codecs/format_list.h"

namespace penstock {

struct SoundFormat {
  std::string_view id = {};     // "flac"
  std::string_view title = {};  // "FLAC": in messages
  // In all lists, and when first bytes are compared; each format has its own.
  int place = 0;
  // The file from the format's first byte on, without a tag before it. Empty if the file has another format.
  AudioBytes (*find)(AudioBytes file) = nullptr;
  std::unique_ptr<AudioFile> (*open)(AudioBytes found) = nullptr;  // as open_audio(), of what find() returned
  std::vector<std::string_view> suffixes = {};                     // of names, in small letters: ".wav"
  DefaultSuffixes read_by_default = {};
  OwnEnd (*own_end)(AudioBytes file) = nullptr;  // for `penstock verify`
};

// In the order of their places.
std::span<const SoundFormat* const> sound_formats();
// The format by the first bytes, and what its find() returned; nullptr if they match no format.
struct FoundSound {
  const SoundFormat* format = nullptr;
  AudioBytes bytes = {};
};
FoundSound find_sound(AudioBytes file);

// Two formats with the same id, place or suffix are a mistake in the build: the program ends. The result is always
// true.
bool register_sound_format(SoundFormat format);
#define PENSTOCK_SOUND_FORMAT(...) \
  [[maybe_unused]] static const bool registered_sound_format = ::penstock::register_sound_format(__VA_ARGS__)

constexpr int kMostAudioChannels = 255;

// What follows an ID3 tag of version 2.
AudioBytes after_id3_tag(AudioBytes file);

// More than 128 samples per byte are silence or a forged length: such files are decoded once before memory for the
// samples is allocated.
inline bool is_doubtful(const AudioInfo& info, size_t bytes) {
  return info.length / 128 * info.channels > static_cast<int64_t>(bytes);
}
inline void ignore(const AudioSamples&, int64_t) {}

}  // namespace penstock
