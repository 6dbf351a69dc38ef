// SPDX-License-Identifier: Apache-2.0
#include "numerics/resampling.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/intrinsics.h"
#include "base/target.h"
#include "pixel/transcendental.h"

namespace penstock {

namespace {
constexpr int kSteps = 64;
}  // namespace

Resampler::Resampler(double quality)
    : lobes_(static_cast<int>(std::lround(0.007 * quality * quality - 0.09 * quality + 3))) {
  const int count = lobes_ * kSteps;
  table_.resize(count + 2);
  for (int i = 0; i <= count; ++i) {
    const double x = static_cast<double>(i) / kSteps;
    const double sinc = i == 0 ? 1 : std::sin(kPi * x) / (kPi * x);
    table_[i] = static_cast<float>(sinc * 0.5 * (1 + std::cos(kPi * x / lobes_)));
  }
  rows_.resize(static_cast<size_t>((kSteps + 1) * row_length()));
  for (int step = 0; step <= kSteps; ++step)
    for (int neighbor = -lobes_; neighbor <= lobes_; ++neighbor)
      rows_[static_cast<size_t>(step * row_length() + neighbor + lobes_)] =
          table_[static_cast<size_t>(std::abs(neighbor * kSteps - step))];
}

// A row has the weights of the neighbors from -lobes to lobes, and what a vector may read after them.
int64_t Resampler::row_length() const { return (2 * lobes_ + 8 + 7) / 8 * 8; }

Resampler::Step::Step(double in_rate, double out_rate) {
  const double step = std::min(in_rate / out_rate, 0x1p62);
  whole = static_cast<uint64_t>(step);
  rest = static_cast<uint64_t>((step - static_cast<double>(whole)) * 0x1p64);
}

int64_t Resampler::length(int64_t in, double in_rate, double out_rate) {
  return static_cast<int64_t>(std::min(std::ceil(static_cast<double>(in) * out_rate / in_rate), 0x1p62));
}

namespace {

// The signal of a channel and the weights of neighbors from `first` on.
struct Neighbors {
  int64_t first, whole;  // `whole`: the integer part of the place
  float fraction;
  int count;
};

#define PENSTOCK_LOOPS resampling
#define PENSTOCK_LOOPS_TEXT "numerics/resampling.inc.h"
#include "base/foreach_target.h"

constexpr int64_t kMostPhases = 1024, kMostWeights = 1 << 16;

// After how many samples of the output places have the same fraction, nearly; 0: after very many.
int64_t phases(uint64_t rest, int64_t weights) {
  const int64_t most = std::min(kMostPhases, kMostWeights / weights);
  uint64_t at = rest;
  for (int64_t p = 1; p <= most; ++p, at += rest)
    if (std::min(at, 0 - at) < uint64_t{1} << 38) return p;
  return 0;
}

// Weights by the phase of a place. Those of another fraction are computed anew: places are exact, phases are not.
class PhaseWeights {
 public:
  PhaseWeights(uint64_t rest, int lobes)
      : each_((2 * lobes + 8) / 8 * 8), phases_(std::max<int64_t>(1, phases(rest, each_))) {
    weights_.resize(static_cast<size_t>(each_ / 8 * phases_));
    known_.resize(static_cast<size_t>(phases_));
  }
  // Weights for the k-th place at the k-th call; compute(weights) makes those that are not known.
  template <class Compute> const float* of_next(const Neighbors& n, const Compute& compute) {
    const int64_t phase = next_;
    if (++next_ == phases_) next_ = 0;
    float* const weights = weights_[static_cast<size_t>(phase * each_ / 8)].of;
    Known& known = known_[static_cast<size_t>(phase)];
    const Known now{n.fraction, static_cast<int>(n.first - n.whole), n.count};
    if (known.fraction != now.fraction || known.begin != now.begin || known.count != now.count) {
      compute(weights);
      known = now;
    }
    return weights;
  }

 private:
  struct Known {
    float fraction = -1;
    int begin = 0, count = 0;
  };
  int64_t each_, phases_, next_ = 0;
  // Read right after they are written: a vector across two cache lines would wait for the caches.
  struct alignas(32) EightWeights {
    float of[8];
  };
  std::vector<EightWeights> weights_;
  std::vector<Known> known_;
};

}  // namespace

void Resampler::run(const float* in, int64_t n, int channels, double in_rate, double out_rate, float* out,
                    int64_t length) const {
  const Step step(in_rate, out_rate);
  const Target target = best_target();
  std::vector<float> planes(channels > 1 ? static_cast<size_t>(n * channels) : 0);
  if (channels > 1)
    for (int c = 0; c < channels; ++c)
      for (int64_t i = 0; i < n; ++i) planes[static_cast<size_t>(c * n + i)] = in[i * channels + c];
  const float* const signal = channels > 1 ? planes.data() : in;
  PhaseWeights known(step.rest, lobes_);
  uint64_t position = 0, rest = 0;  // of output sample k: position + rest / 2^64
  for (int64_t k = 0; k < length; ++k) {
    Neighbors at;
    at.whole = static_cast<int64_t>(position);
    at.fraction = static_cast<float>(static_cast<uint32_t>(rest >> 40)) * 0x1p-24f;
    at.first = std::max<int64_t>(at.whole + (rest != 0) - lobes_, 0);
    at.count = static_cast<int>(std::max<int64_t>(std::min<int64_t>(at.whole + lobes_, n - 1) - at.first + 1, 0));
    rest += step.rest;
    position += step.whole + (rest < step.rest);
    const float* const weights = known.of_next(at, [&](float* to) {
      const float place = at.fraction * kSteps;
      const auto step = static_cast<int>(place);
      const float* const row = rows_.data() + step * row_length() + (at.first - at.whole + lobes_);
      PENSTOCK_FOR_TARGET(target, resampling,
                          make_weights(row, row_length(), place - static_cast<float>(step), at.count, to));
    });
    for (int c = 0; c < channels; ++c)
      out[k * channels + c] =
          PENSTOCK_FOR_TARGET(target, resampling, weighed(signal + c * n + at.first, weights, at.count));
  }
}

}  // namespace penstock
