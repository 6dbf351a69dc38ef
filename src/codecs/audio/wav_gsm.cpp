// SPDX-License-Identifier: Apache-2.0
// GSM 06.10 full rate: a residual of pulses, long-term prediction, a lattice filter. All arithmetic is the 16-bit
// arithmetic of the standard, so that every decoder gives the same samples.
#include <algorithm>

#include "codecs/audio/wav_blocks.h"

namespace penstock {

namespace {

constexpr int kParts = 4, kPartSamples = 40, kPulses = 13, kFrameSamples = kParts * kPartSamples;

int16_t add(int a, int b) { return static_cast<int16_t>(std::clamp(a + b, -32768, 32767)); }
int16_t subtract(int a, int b) { return add(a, -b); }
// The product of fractions of 15 bits, rounded.
int16_t multiply(int a, int b) {
  if (a == -32768 && b == -32768) return 32767;
  return static_cast<int16_t>((a * b + 16384) >> 15);
}

// Reads numbers of a few bits, the least significant bit first.
class BitReader {
 public:
  explicit BitReader(AudioBytes bytes) : bytes_(bytes) {}
  uint8_t take(int count) {
    int v = 0;
    for (int i = 0; i < count; ++i, ++at_) v |= (bytes_[at_ / 8] >> at_ % 8 & 1) << i;
    return static_cast<uint8_t>(v);
  }

 private:
  AudioBytes bytes_;
  size_t at_ = 0;
};

// The scale of the pulses has an exponent and a mantissa of 3 bits.
void place_pulses(const uint8_t* codes, int grid, int largest, int16_t* part) {
  constexpr int kMantissas[] = {18431, 20479, 22527, 24575, 26623, 28671, 30719, 32767};
  int exponent = largest > 15 ? (largest >> 3) - 1 : 0, mantissa = largest - (exponent << 3);
  if (mantissa == 0) {
    exponent = -4, mantissa = 7;
  } else {
    for (; mantissa <= 7; --exponent) mantissa = mantissa << 1 | 1;
    mantissa -= 8;
  }
  const int shift = 6 - exponent, half = shift > 0 ? 1 << (shift - 1) : 0;
  std::fill_n(part, kPartSamples, int16_t{0});
  for (int i = 0; i < kPulses; ++i) {
    const int pulse = multiply(kMantissas[mantissa], (2 * codes[i] - 7) * 4096);
    part[grid + 3 * i] = static_cast<int16_t>(add(pulse, half) >> shift);
  }
}

int16_t ratio_of(int code, int i) {
  struct Quantizer {
    int offset, least, inverse;
  };
  constexpr Quantizer kOf[8] = {{0, -32, 13107}, {0, -32, 13107},    {2048, -16, 13107}, {-2560, -16, 13107},
                                {94, -8, 19223}, {-1792, -8, 17476}, {-341, -4, 31454},  {-1144, -4, 29708}};
  const int16_t v = multiply(kOf[i].inverse, subtract((code + kOf[i].least) * 1024, kOf[i].offset * 2));
  return add(v, v);
}

int16_t reflection_of(int ratio) {
  const int size = ratio == -32768 ? 32767 : std::abs(ratio);
  const int r = size < 11059 ? size << 1 : size < 20070 ? size + 11059 : add(size >> 2, 26112);
  return static_cast<int16_t>(ratio < 0 ? -r : r);
}

}  // namespace

struct GsmDecoder::Frame {
  int16_t ratios[8];
  struct Part {
    uint8_t lag, gain, grid, largest, codes[kPulses];
  } parts[kParts];

  explicit Frame(BitReader& bits) {
    constexpr int kBits[8] = {6, 6, 5, 5, 4, 4, 3, 3};
    for (int i = 0; i < 8; ++i) ratios[i] = ratio_of(bits.take(kBits[i]), i);
    for (Part& p : parts) {
      p.lag = bits.take(7), p.gain = bits.take(2), p.grid = bits.take(2), p.largest = bits.take(6);
      for (uint8_t& code : p.codes) code = bits.take(3);
    }
  }
};

void GsmDecoder::decode_block(AudioBytes block, int16_t* to) {
  BitReader bits(block);
  for (int f = 0; f < 2; ++f) decode_frame(Frame(bits), to + f * kFrameSamples);
}

void GsmDecoder::decode_frame(const Frame& frame, int16_t* to) {
  constexpr int kGains[] = {3277, 11469, 21299, 32767};
  int16_t residual[kHistory + kFrameSamples];
  std::copy_n(history_, kHistory, residual);
  for (int p = 0; p < kParts; ++p) {
    const Frame::Part& part = frame.parts[p];
    int16_t* const now = residual + kHistory + p * kPartSamples;
    place_pulses(part.codes, part.grid, part.largest, now);
    if (part.lag >= kPartSamples && part.lag <= kHistory) lag_ = part.lag;
    for (int k = 0; k < kPartSamples; ++k) now[k] = add(now[k], multiply(kGains[part.gain], now[k - lag_]));
  }
  std::copy_n(residual + kFrameSamples, kHistory, history_);
  filter(residual + kHistory, frame, to);
}

void GsmDecoder::filter(const int16_t* residual, const Frame& frame, int16_t* to) {
  // The ratios move from the previous frame's to this one's in three steps.
  constexpr int kEnds[] = {13, 27, 40, kFrameSamples};
  int k = 0;
  for (int step = 0; step < 4; ++step) {
    int16_t reflections[8];
    for (int i = 0; i < 8; ++i) {
      const int old = ratios_[i], now = frame.ratios[i];
      const int ratio = step == 0   ? add(add(old >> 2, now >> 2), old >> 1)
                        : step == 1 ? add(old >> 1, now >> 1)
                        : step == 2 ? add(add(old >> 2, now >> 2), now >> 1)
                                    : now;
      reflections[i] = reflection_of(ratio);
    }
    for (; k < kEnds[step]; ++k) {
      int16_t v = residual[k];
      for (int i = 7; i >= 0; --i) {
        v = subtract(v, multiply(reflections[i], lattice_[i]));
        lattice_[i + 1] = add(lattice_[i], multiply(reflections[i], v));
      }
      lattice_[0] = v;
      emphasis_ = add(v, multiply(emphasis_, 28180));
      to[k] = static_cast<int16_t>(add(emphasis_, emphasis_) & ~7);
    }
  }
  std::copy_n(frame.ratios, 8, ratios_);
}

}  // namespace penstock
