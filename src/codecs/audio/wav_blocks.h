// SPDX-License-Identifier: Apache-2.0
// Compressed blocks of WAV files: two kinds of ADPCM (Microsoft's and IMA's, "Multimedia Data Standards Update", 1994)
// and GSM 06.10 (ETSI EN 300 961), packed as Microsoft does: two frames in 65 bytes.
#pragma once
#include <vector>

#include "codecs/audio/audio_decoder.h"

namespace penstock {

struct MsPredictor {
  int16_t last, before;  // factors of the two previous samples, in 256ths
};

constexpr int kGsmBlockBytes = 65, kGsmBlockSamples = 320;

// Samples per channel in a block of `bytes` bytes; not positive if it holds none.
constexpr int64_t ima_block_samples(int64_t bytes, int channels) { return (bytes / channels - 4) / 4 * 8 + 1; }
constexpr int64_t ms_block_samples(int64_t bytes, int channels) { return (bytes - 7 * channels) * 2 / channels + 2; }

// Each writes all samples of a block, interleaved. The block's size must give at least one sample. Throws
// ErrorKind::data if a number is not valid in the format.
void decode_ima_block(AudioBytes block, int channels, int16_t* to);
void decode_ms_block(AudioBytes block, int channels, const std::vector<MsPredictor>& predictors, int16_t* to);

// One channel. Each block depends on the previous ones.
class GsmDecoder {
 public:
  void decode_block(AudioBytes block, int16_t* to);

 private:
  struct Frame;
  void decode_frame(const Frame& frame, int16_t* to);
  void filter(const int16_t* residual, const Frame& frame, int16_t* to);

  static constexpr int kHistory = 120;
  int16_t history_[kHistory] = {};  // of the reconstructed residual
  int16_t ratios_[8] = {};          // log-area ratios of the previous frame
  int16_t lattice_[9] = {};
  int16_t lag_ = 40, emphasis_ = 0;
};

}  // namespace penstock
