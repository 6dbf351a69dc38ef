// SPDX-License-Identifier: Apache-2.0
// The headers of MPEG audio frames (ISO/IEC 11172-3 and 13818-3, and version 2.5), to find where a file's first one is.
#pragma once
#include "codecs/audio/audio_decoder.h"

namespace penstock {

// Of a version, a layer, a bit rate and a sample rate that there are.
bool is_mpeg_frame(AudioBytes file);
// Of three frames alike, one after the other, or fewer of them up to the end of the file.
bool begins_with_mpeg_frames(AudioBytes file);
// The place of the first such frames, or the file's size where there are none in the first bytes.
size_t find_mpeg_frames(AudioBytes file);
// What the first frame, where it is an encoder's note (Xing, Info), says of the bytes from it on; 0 where it says
// nothing.
uint64_t said_mpeg_bytes(AudioBytes frames);

}  // namespace penstock
