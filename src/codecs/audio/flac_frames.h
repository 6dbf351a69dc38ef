// SPDX-License-Identifier: Apache-2.0
// Decodes the frames of a FLAC stream (RFC 9639) one after the other.
#pragma once
#include <vector>

#include "codecs/audio/flac_bits.h"
#include "codecs/audio/flac_loops.h"

namespace penstock {

constexpr int kMostFlacChannels = 8;

class FlacFrames {
 public:
  // `at`: offset of the first frame. `bits`: for frames that do not state theirs. Reads no frame after `wanted`
  // samples.
  FlacFrames(AudioBytes file, size_t at, int channels, int bits, int64_t wanted);
  // Calls `give(planes, length)` for each of the next frames; some are decoded together. False: there are no more whole
  // frames. Throws ErrorKind::data if the bytes are not a frame, or are one with other channels or bits, with the
  // byte's offset.
  template <class Give> bool next(const Give& give) {
    read_some();
    for (size_t f = 0; f < filled_; ++f) give(frames_[f].planes, int64_t{frames_[f].length});
    return filled_ > 0;
  }

 private:
  enum Pairing : uint8_t { kNone, kLeftSide, kSideRight, kMidSide };
  struct Frame {
    int length = 0, channels = 0, bits = 0;
    Pairing pairing = kNone;
    std::vector<int32_t> samples;
    std::vector<int64_t> wide;  // the difference of two 32-bit channels has 33 bits
    int32_t* planes[kMostFlacChannels] = {};
    int wasted[kMostFlacChannels] = {};

    int side() const { return pairing == kNone ? -1 : pairing == kSideRight ? 0 : 1; }
  };
  using Cause = const char*;  // what is wrong, or nullptr

  void read_some();
  bool read_frame(Frame& f);
  Cause read_head(Frame& f);
  Cause read_channels(Frame& f);
  template <class Sample> Cause read_subframe(Frame& f, int channel, int bits, Sample* to);
  template <class Sample> Cause read_fixed(Frame& f, int channel, int order, int bits, Sample* to);
  template <class Sample> Cause read_linear(Frame& f, int channel, int order, int bits, Sample* to);
  Cause read_residual(int length, int order, int32_t* to);
  static void finish(Frame& f);

  FlacBits bits_;
  int channels_, stream_bits_;
  int64_t sample_ = 0, wanted_;
  const FlacLoops& loops_;
  std::vector<Frame> frames_;  // those decoded together
  size_t filled_ = 0;
  std::vector<FlacPrediction> narrow_, wide_;  // of these frames
};

}  // namespace penstock
