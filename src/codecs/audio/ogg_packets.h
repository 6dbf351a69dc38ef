// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codecs/audio/audio_decoder.h"

namespace penstock {

// What the packets of an Ogg file's first stream hold (RFC 3533), one behind the other. As with libogg, damaged pages
// are passed over, and with them the packets that they have parts of.
std::vector<uint8_t> join_ogg_packets(AudioBytes file);

enum class OggEnd : uint8_t {
  marked,    // the last page says that its stream ends
  unmarked,  // it is whole and does not
  cut,       // the bytes after it are not a whole page
};
OggEnd ogg_end(AudioBytes file);

// Whether no packet ends in the last page, as its granule position of -1 says (RFC 3533, section 6).
bool last_ogg_page_is_open(AudioBytes file);

}  // namespace penstock
