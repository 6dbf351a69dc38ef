// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codecs/audio/audio_decoder.h"

namespace penstock {

// What the packets of an Ogg file's first stream hold (RFC 3533), one behind the other. As with libogg, damaged pages
// are passed over, and with them the packets that they have parts of.
std::vector<uint8_t> join_ogg_packets(AudioBytes file);

}  // namespace penstock
