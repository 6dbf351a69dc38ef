// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/audio/audio_decoder.h"

namespace penstock {

// See open_audio. The file starts with the format's signature.
std::unique_ptr<AudioFile> open_wav(AudioBytes file);
std::unique_ptr<AudioFile> open_flac(AudioBytes file);
std::unique_ptr<AudioFile> open_vorbis(AudioBytes file);
std::unique_ptr<AudioFile> open_opus(AudioBytes file);
std::unique_ptr<AudioFile> open_mp3(AudioBytes file);

constexpr int kMostAudioChannels = 255;

// More than 128 samples per byte are silence or a forged length: such files are decoded once before memory for the
// samples is allocated.
inline bool is_doubtful(const AudioInfo& info, size_t bytes) {
  return info.length / 128 * info.channels > static_cast<int64_t>(bytes);
}
inline void ignore(const AudioSamples&, int64_t) {}

}  // namespace penstock
