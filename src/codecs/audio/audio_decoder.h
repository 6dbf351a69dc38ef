// SPDX-License-Identifier: Apache-2.0
// Recorded sound: WAV and FLAC (our own decoders), Ogg Vorbis (libvorbis), Ogg Opus (opusfile), MP3 (libmpg123, if it
// is installed).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "base/error.h"

namespace penstock {

using AudioBytes = std::span<const uint8_t>;

struct AudioInfo {
  const char* format = "";  // "wav", "flac", "vorbis", "opus", "mp3"
  int64_t length = 0;       // samples per channel
  int channels = 0;
  double rate = 0;        // samples per second; 48,000 for Opus, whatever the rate of the recording
  bool integers = false;  // the file stores integers
};

// A 16-bit sample as it is in a file: little-endian, not necessarily aligned.
struct StoredSample {
  uint8_t bytes[2];
};
// One pointer per channel. `shift`: the left shift that left-justifies integers in 32 bits.
template <class T> struct AudioPlanes {
  const T* const* planes;
  int shift = 0;
};

// Interleaved, except in planes. Integers are left-justified in their type; floating point is in [-1, 1].
using AudioSamples =
    std::variant<const int32_t*, const float*, const StoredSample*, AudioPlanes<int32_t>, AudioPlanes<float>>;

// Receives samples in the order of time, `length` per channel in each call: AudioInfo::length in total, unless decoding
// fails.
using AudioSink = std::function<void(const AudioSamples& samples, int64_t length)>;

// A file whose headers have been read.
class AudioFile {
 public:
  virtual ~AudioFile() = default;
  const AudioInfo& info() const { return info_; }
  virtual void decode(const AudioSink& sink) = 0;  // call it once
  // What the header promises and the file lacks, if decoding ignores it; "" if nothing is missing.
  virtual std::string missing() const { return ""; }

 protected:
  AudioInfo info_;
};

// Reads only the headers, except for MP3 (the header of each frame) and for FLAC files that do not declare their
// length. The bytes must live as long as the result. Throws ErrorKind::data with the cause; does not trust a length
// that the bytes of the file cannot hold.
std::unique_ptr<AudioFile> open_audio(AudioBytes file);

}  // namespace penstock
