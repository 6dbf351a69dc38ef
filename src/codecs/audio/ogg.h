// SPDX-License-Identifier: Apache-2.0
// The codecs that an Ogg file may hold. Each opens a file whose first packet is its own.
#pragma once
#include "codecs/audio/audio_decoder.h"

namespace penstock {

std::unique_ptr<AudioFile> open_vorbis(AudioBytes file);
std::unique_ptr<AudioFile> open_opus(AudioBytes file);
std::unique_ptr<AudioFile> open_flac(AudioBytes file);  // of packets, or bare

}  // namespace penstock
