// SPDX-License-Identifier: Apache-2.0
// Recorded sound: WAV and FLAC (of our own), Ogg Vorbis (libvorbis), Ogg Opus (opusfile), MP3 (libmpg123, where it is
// installed).
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
  int64_t length = 0;       // samples of a channel
  int channels = 0;
  double rate = 0;        // samples a second; 48,000 for Opus, whatever was recorded
  bool integers = false;  // stored as integers
};

// A sample of 16 bits as a file has it, aligned or not; little-endian.
struct StoredSample {
  uint8_t bytes[2];
};
// A pointer for each channel. `shift`: what left-justifies integers in 32 bits.
template <class T> struct AudioPlanes {
  const T* const* planes;
  int shift = 0;
};

// Interleaved unless they are planes. Integers are left-justified in their type; floating point lies in -1 to 1.
using AudioSamples =
    std::variant<const int32_t*, const float*, const StoredSample*, AudioPlanes<int32_t>, AudioPlanes<float>>;

// Takes samples in the order of time, `length` of each channel at a time: AudioInfo::length of them, or an error.
using AudioSink = std::function<void(const AudioSamples& samples, int64_t length)>;

// A file whose headers have been read.
class AudioFile {
 public:
  virtual ~AudioFile() = default;
  const AudioInfo& info() const { return info_; }
  virtual void decode(const AudioSink& sink) = 0;  // once
  // What the file says to hold and does not, where decoding passes over that; "": nothing.
  virtual std::string missing() const { return ""; }

 protected:
  AudioInfo info_;
};

// Reads headers alone, but for MP3 (the header of each frame) and FLAC files that do not say their length. The bytes
// must live as long as the result. Throws ErrorKind::data naming what is wrong; never trusts a length that the file's
// bytes cannot hold.
std::unique_ptr<AudioFile> open_audio(AudioBytes file);

// The name of the sound's format (codecs/file_formats.h), or nullptr.
const char* sniff_sound(AudioBytes file);

}  // namespace penstock
