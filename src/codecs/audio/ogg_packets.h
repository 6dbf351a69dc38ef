// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codecs/audio/sound_format.h"

namespace penstock {

// The contents of the packets of an Ogg file's first stream (RFC 3533), in order. Like libogg, skips damaged pages and
// the packets that have parts in them.
std::vector<uint8_t> join_ogg_packets(AudioBytes file);

// Found: the last page says that its stream ends. Missing: it is whole and does not. Cut: the bytes after it are not a
// whole page.
OwnEnd ogg_end(AudioBytes file);

// Whether no packet ends in the last page: its granule position is then -1 (RFC 3533, section 6).
bool last_ogg_page_is_open(AudioBytes file);

}  // namespace penstock
