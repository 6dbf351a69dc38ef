// SPDX-License-Identifier: Apache-2.0
// Sound as it is after an encoder and a decoder: of the same length, in place.
#pragma once
#include <cstdint>

namespace penstock {

struct CodedSound {
  const float* in;  // n x channels interleaved, from -1 to 1
  float* out;       // as many
  int64_t n;
  int channels;  // 1 or 2
  int rate;      // in hertz
  int bitrate;   // bits a second
};

void opus_round_trip(const CodedSound& sound);
void mp3_round_trip(const CodedSound& sound);  // by libmp3lame and libmpg123, which are loaded at run time

}  // namespace penstock
