// SPDX-License-Identifier: Apache-2.0
// Reads the headers of MPEG audio frames (ISO/IEC 11172-3 and 13818-3, and version 2.5), to find the first one of a
// file.
#pragma once
#include "codecs/audio/audio_decoder.h"

namespace penstock {

// Whether the version, layer, bit rate and sample rate are all valid.
bool is_mpeg_frame(AudioBytes file);
// Whether three similar frames follow each other, or fewer up to the end of the file.
bool begins_with_mpeg_frames(AudioBytes file);
// The offset of the first such frames, or the file's size if the first bytes contain none.
size_t find_mpeg_frames(AudioBytes file);
// The number of bytes from the first frame on, if that frame is an encoder's note (Xing, Info) that states it; else 0.
uint64_t declared_mpeg_bytes(AudioBytes frames);

}  // namespace penstock
