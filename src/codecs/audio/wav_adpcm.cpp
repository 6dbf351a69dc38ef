// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "codecs/audio/wav_blocks.h"
#include "codecs/byte_order.h"

namespace penstock {

namespace {

int16_t signed16(const uint8_t* p) { return static_cast<int16_t>(le16(p)); }
int clamped16(int64_t v) { return static_cast<int>(std::clamp<int64_t>(v, -32768, 32767)); }

constexpr int kSteps[] = {7,     8,     9,     10,    11,    12,    13,    14,    16,    17,    19,   21,    23,
                          25,    28,    31,    34,    37,    41,    45,    50,    55,    60,    66,   73,    80,
                          88,    97,    107,   118,   130,   143,   157,   173,   190,   209,   230,  253,   279,
                          307,   337,   371,   408,   449,   494,   544,   598,   658,   724,   796,  876,   963,
                          1060,  1166,  1282,  1411,  1552,  1707,  1878,  2066,  2272,  2499,  2749, 3024,  3327,
                          3660,  4026,  4428,  4871,  5358,  5894,  6484,  7132,  7845,  8630,  9493, 10442, 11487,
                          12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};
constexpr int kLastStep = static_cast<int>(std::size(kSteps)) - 1;

struct ImaState {
  int sample, step;

  int next(int code) {
    constexpr int kMoves[] = {-1, -1, -1, -1, 2, 4, 6, 8};
    const int size = kSteps[step];
    int change = size >> 3;
    if (code & 1) change += size >> 2;
    if (code & 2) change += size >> 1;
    if (code & 4) change += size;
    sample = clamped16(code & 8 ? sample - change : sample + change);
    step = std::clamp(step + kMoves[code & 7], 0, kLastStep);
    return sample;
  }
};

}  // namespace

void decode_ima_block(AudioBytes block, int channels, int16_t* to) {
  const int64_t samples = ima_block_samples(static_cast<int64_t>(block.size()), channels);
  for (int c = 0; c < channels; ++c) {
    const uint8_t* head = &block[static_cast<size_t>(4 * c)];
    if (head[2] > kLastStep) bad_data("WAV: IMA ADPCM: step {} is not between 0 and {}", head[2], kLastStep);
    ImaState state{signed16(head), head[2]};
    to[c] = static_cast<int16_t>(state.sample);
    // The channels take turns, 4 bytes (8 samples) each.
    for (int64_t i = 0; i + 1 < samples; ++i) {
      const uint8_t byte = block[static_cast<size_t>(4 * (channels * (1 + i / 8) + c) + i % 8 / 2)];
      to[(i + 1) * channels + c] = static_cast<int16_t>(state.next(i % 2 ? byte >> 4 : byte & 15));
    }
  }
}

void decode_ms_block(AudioBytes block, int channels, const std::vector<MsPredictor>& predictors, int16_t* to) {
  constexpr int kGrowth[] = {230, 230, 230, 230, 307, 409, 512, 614, 768, 614, 512, 409, 307, 230, 230, 230};
  constexpr int kLeastStep = 16;
  const int64_t samples = ms_block_samples(static_cast<int64_t>(block.size()), channels);
  for (int c = 0; c < channels; ++c) {
    const uint8_t predictor = block[static_cast<size_t>(c)];
    if (predictor >= predictors.size()) bad_data("WAV: MS ADPCM: predictor {} does not exist", predictor);
    const MsPredictor p = predictors[predictor];
    const auto head = [&](int field) {  // 16-bit numbers, of each channel in turn
      return signed16(&block[static_cast<size_t>(channels * (2 * field - 1) + 2 * c)]);
    };
    int64_t step = head(1);
    int last = head(2), before = head(3);
    to[c] = static_cast<int16_t>(before), to[channels + c] = static_cast<int16_t>(last);
    for (int64_t t = 2; t < samples; ++t) {
      const int64_t place = (t - 2) * channels + c;  // index of its four bits; the upper four of a byte come first
      const uint8_t byte = block[static_cast<size_t>(7 * channels + place / 2)];
      const int code = place % 2 ? byte & 15 : byte >> 4;
      const int64_t predicted = (int64_t{last} * p.last + int64_t{before} * p.before) >> 8;
      before = last, last = clamped16(predicted + (code & 8 ? code - 16 : code) * step);
      step = std::clamp<int64_t>(kGrowth[code] * step >> 8, kLeastStep, INT32_MAX);
      to[t * channels + c] = static_cast<int16_t>(last);
    }
  }
}

}  // namespace penstock
