// SPDX-License-Identifier: Apache-2.0
// The samples that decoders.audio and the readers of recordings make of a decoded file.
#pragma once
#include "base/size_limits.h"
#include "batch/batch.h"
#include "codecs/audio/audio_decoder.h"

namespace penstock {

struct AudioReading {
  bool downmix = false;                // the mean of all channels
  DType dtype = DType::float32;        // or int16, int32
  float quality = 50;                  // quality of the resampling, 0 to 100
  float rate = 0;                      // sample rate of the result; 0: as recorded
  int64_t first = 0, length = -1;      // the part of the recording, in its samples; -1: to the end
  int64_t max_samples = kMostSamples;  // number of values of the result

  void check_type() const;
  bool resamples(const AudioInfo& info) const { return rate > 0 && rate != static_cast<float>(info.rate); }
  float result_rate(const AudioInfo& info) const { return resamples(info) ? rate : static_cast<float>(info.rate); }
  // (samples, channels), or (samples) if they are mixed. Throws Error (data) if the part starts after the end of the
  // recording.
  Shape shape(const AudioInfo& info) const;
  // Decodes into out, whose shape is shape(file.info()).
  void read(AudioFile& file, const View& out) const;

 private:
  int64_t recorded(const AudioInfo& info) const;  // samples of the part
  template <class T> void read_recorded(AudioFile& file, T* to) const;
};

}  // namespace penstock
