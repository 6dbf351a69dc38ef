// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codecs/audio/audio_decoder.h"

namespace penstock {

// The contents of the packets of an Ogg file's first stream (RFC 3533), in order. Like libogg, skips damaged pages and
// the packets that have parts in them.
std::vector<uint8_t> join_ogg_packets(AudioBytes file);

enum class OggEnd : uint8_t {
  marked,    // the last page says that its stream ends
  unmarked,  // the last page is complete and does not say so
  cut,       // the bytes after the last page are not a complete page
};
OggEnd ogg_end(AudioBytes file);

// Whether no packet ends in the last page: its granule position is then -1 (RFC 3533, section 6).
bool last_ogg_page_is_open(AudioBytes file);

}  // namespace penstock
