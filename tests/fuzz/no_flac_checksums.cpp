// SPDX-License-Identifier: Apache-2.0
// Every checksum of FLAC is right, so that what fuzzers change gets past them. Unit tests have the real ones.
#include "codecs/audio/flac_checksums.h"

namespace penstock {

uint8_t flac_header_sum(AudioBytes) { return 0; }
uint16_t flac_frame_sum(AudioBytes) { return 0; }

}  // namespace penstock
