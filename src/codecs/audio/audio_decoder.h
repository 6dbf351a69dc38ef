// SPDX-License-Identifier: Apache-2.0
// Recorded sound: WAV (a parser of our own), FLAC (libFLAC), Ogg Vorbis (libvorbis), Ogg Opus (opusfile).
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "base/error.h"

namespace penstock {

using AudioBytes = std::span<const uint8_t>;

struct AudioInfo {
  const char* format = "";  // "wav", "flac", "vorbis", "opus"
  int64_t length = 0;       // samples of a channel
  int channels = 0;
  double rate = 0;          // samples a second; 48,000 for Opus, whatever was recorded
  bool integers = false;    // stored as integers
};

// Headers alone, but for FLAC files that do not say their length. Throws ErrorKind::data naming what is wrong; never trusts
// a length that the file's bytes cannot hold.
AudioInfo probe_audio(AudioBytes file);

// Interleaved samples in the order of time, some at a time: of a file of integers left-justified in 32 bits, else of
// floating point, from -1 to 1. Exactly info.length of them, or an error.
struct AudioSink {
  std::function<void(const int32_t* samples, int64_t length)> integers;
  std::function<void(const float* samples, int64_t length)> reals;
};
void decode_audio(AudioBytes file, const AudioInfo& info, const AudioSink& sink);

}  // namespace penstock
