// SPDX-License-Identifier: Apache-2.0
// The two checksums of FLAC frames (RFC 9639, sections 9.1.8 and 9.3).
#pragma once
#include "codecs/audio/audio_decoder.h"

namespace penstock {

uint8_t flac_header_sum(AudioBytes bytes);  // x^8 + x^2 + x + 1; 0 if the last byte is the sum itself
uint16_t flac_frame_sum(AudioBytes bytes);  // x^16 + x^15 + x^2 + 1; 0 if the last two bytes are the sum itself
uint16_t flac_frame_sum_portable(AudioBytes bytes);

}  // namespace penstock
