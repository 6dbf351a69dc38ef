// SPDX-License-Identifier: Apache-2.0
// Places of output samples in a signal that is resampled. Where the ratio of the rates is one of small numbers, their
// fractions repeat: they are phases, whose weights are computed once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "numerics/resampling.h"

namespace penstock {

// Channels one after the other, n samples each.
struct Signal {
  const float* planes;
  int64_t n;
  int channels;
  const float* of(int channel) const { return planes + channel * n; }
};
struct Sinc {
  const float* table;
  int last;  // its place of the end of the sinc
  float scale, gain;
  // Weights by step between two samples, for filters that are not stretched: lobes to each side of the middle of a row.
  const float* rows;  // or null
  int64_t row_length;
  int lobes;
};
// The samples around a place, from `first` on.
struct Neighbors {
  int64_t first, whole;  // `whole`: the integer part of the place
  float fraction;
  int count;
};
struct Phase {
  const float* weights;
  int64_t first;  // of the samples, from where the period begins
  int count;
};

// How far places are moved: whole + drift / 2^64, the drift near 0.
struct Advance {
  int64_t whole, drift;
};

class Place {
 public:
  explicit Place(const Resampler::Step& step) : step_(Wide{step.whole} << 64 | step.rest) {}
  int64_t whole() const { return static_cast<int64_t>(at_ >> 64); }
  uint64_t rest() const { return static_cast<uint64_t>(at_); }
  float fraction() const { return static_cast<float>(static_cast<uint32_t>(rest() >> kUnseen)) * 0x1p-24f; }
  void go(int64_t steps) { at_ += step_ * static_cast<uint64_t>(steps); }
  Advance advance(int64_t steps) const {
    const Wide far = step_ * static_cast<uint64_t>(steps), half = Wide{1} << 63;
    return {static_cast<int64_t>((far + half) >> 64), static_cast<int64_t>(static_cast<uint64_t>(far))};
  }
  // How often the place, moved by `each`, has the whole part that it should and the same fraction.
  int64_t periods_alike(const Advance& each) const {
    if (each.drift == 0) return int64_t{1} << 62;
    const uint64_t seen = uint64_t{1} << kUnseen, low = rest() & (seen - 1);
    if (rest() == 0) return 1;  // that of a place between samples differs
    if (each.drift > 0) return static_cast<int64_t>((seen - 1 - low) / static_cast<uint64_t>(each.drift)) + 1;
    return low == 0 ? 1 : static_cast<int64_t>((low - 1) / (0 - static_cast<uint64_t>(each.drift))) + 1;
  }

 private:
  using Wide = unsigned __int128;
  static constexpr int kUnseen = 40;  // bits of the rest below the last one of the fraction
  Wide step_, at_ = 0;
};

// Weights by the phase of a place. Those of another fraction are computed anew: places are exact, phases are not.
class PhaseWeights {
 public:
  PhaseWeights(uint64_t rest, int64_t most) : each_((most + 7) / 8 * 8), period_(period_of(rest, each_)) {
    const int64_t kept = std::max<int64_t>(1, period_);
    weights_.resize(static_cast<size_t>(each_ / 8 * kept));
    known_.resize(static_cast<size_t>(kept));
  }
  int64_t period() const { return period_; }  // 0: fractions do not repeat
  bool at_begin() const { return next_ == 0; }
  // Weights for the k-th place at the k-th call; compute(weights) makes those that are not known.
  template <class Compute> const float* of_next(const Neighbors& n, const Compute& compute) {
    const int64_t phase = next_;
    if (++next_ >= period_) next_ = 0;
    float* const weights = weights_[static_cast<size_t>(phase * each_ / 8)].of;
    Known& known = known_[static_cast<size_t>(phase)];
    const Known now{n.fraction, n.first - n.whole, n.count};
    if (known.fraction != now.fraction || known.begin != now.begin || known.count != now.count) {
      compute(weights);
      known = now;
    }
    return weights;
  }

 private:
  struct Known {
    float fraction = -1;
    int64_t begin = 0;
    int count = 0;
  };
  // After how many samples of the output places have the same fraction, nearly.
  static int64_t period_of(uint64_t rest, int64_t weights) {
    constexpr int64_t kMostPhases = 1024, kMostWeights = 1 << 16;
    const int64_t most = std::min(kMostPhases, kMostWeights / weights);
    uint64_t at = rest;
    for (int64_t p = 1; p <= most; ++p, at += rest)
      if (std::min(at, 0 - at) < uint64_t{1} << 38) return p;
    return 0;
  }

  int64_t each_, period_, next_ = 0;
  // Read right after they are written: a vector across two cache lines would wait for the caches.
  struct alignas(32) EightWeights {
    float of[8];
  };
  std::vector<EightWeights> weights_;
  std::vector<Known> known_;
};

}  // namespace penstock
