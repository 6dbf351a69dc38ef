// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/audio/audio_decoder.h"

namespace penstock {

// Each: probe and decode as in audio_decoder.h, of a file that begins as the format does.
AudioInfo probe_wav(AudioBytes file);
void decode_wav(AudioBytes file, const AudioInfo& info, const AudioSink& sink);
AudioInfo probe_flac(AudioBytes file);
void decode_flac(AudioBytes file, const AudioInfo& info, const AudioSink& sink);
AudioInfo probe_vorbis(AudioBytes file);
void decode_vorbis(AudioBytes file, const AudioInfo& info, const AudioSink& sink);
AudioInfo probe_opus(AudioBytes file);
void decode_opus(AudioBytes file, const AudioInfo& info, const AudioSink& sink);

constexpr int kMostAudioChannels = 255;

}  // namespace penstock
