// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/audio/audio_decoder.h"

namespace penstock {

// As open_audio, of a file that begins as the format does.
std::unique_ptr<AudioFile> open_wav(AudioBytes file);
std::unique_ptr<AudioFile> open_flac(AudioBytes file);
std::unique_ptr<AudioFile> open_vorbis(AudioBytes file);
std::unique_ptr<AudioFile> open_opus(AudioBytes file);
std::unique_ptr<AudioFile> open_mp3(AudioBytes file);

constexpr int kMostAudioChannels = 255;

}  // namespace penstock
