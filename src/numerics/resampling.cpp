// SPDX-License-Identifier: Apache-2.0
#include "numerics/resampling.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "base/intrinsics.h"
#include "base/target.h"
#include "numerics/resampling_phases.h"
#include "pixel/transcendental.h"

namespace penstock {

namespace {
constexpr int kSteps = 64, kFineSteps = 512;
constexpr double kBand = 0.95;  // what a filter with a limit leaves of the band of the lower rate
constexpr int64_t kMostReach = int64_t{1} << 30;

std::vector<float> sinc_table(int lobes, int steps) {
  const int count = lobes * steps;
  std::vector<float> made(count + 2);
  for (int i = 0; i <= count; ++i) {
    const double x = static_cast<double>(i) / steps;
    const double sinc = i == 0 ? 1 : std::sin(kPi * x) / (kPi * x);
    made[i] = static_cast<float>(sinc * 0.5 * (1 + std::cos(kPi * x / lobes)));
  }
  return made;
}
// The neighbors of a row, and what a vector may read after them.
int64_t row_length(int lobes) { return (2 * lobes + 8 + 7) / 8 * 8; }
}  // namespace

Resampler::Tables Resampler::make_tables(int lobes, int steps, bool rows) {
  Tables made{sinc_table(lobes, steps), {}};
  if (!rows) return made;
  const int64_t length = row_length(lobes);
  made.rows.resize(static_cast<size_t>((steps + 1) * length));
  for (int step = 0; step <= steps; ++step)
    for (int neighbor = -lobes; neighbor <= lobes; ++neighbor)
      made.rows[static_cast<size_t>(step * length + neighbor + lobes)] =
          made.sinc[static_cast<size_t>(std::abs(neighbor * steps - step))];
  return made;
}
// Made once and kept: there are fewer than 130, and making one takes as long as a second of sound.
std::shared_ptr<const Resampler::Tables> Resampler::kept_tables(int lobes, int steps, bool rows) {
  static std::mutex mutex;
  static std::map<std::pair<int, int>, std::shared_ptr<const Tables>> kept;
  const std::lock_guard lock(mutex);
  auto& found = kept[{lobes, steps}];
  if (!found) found = std::make_shared<const Tables>(make_tables(lobes, steps, rows));
  return found;
}

Resampler::Resampler(double quality, bool limit)
    : lobes_(static_cast<int>(std::lround(0.007 * quality * quality - 0.09 * quality + 3))),
      steps_(limit ? kFineSteps : kSteps),
      limit_(limit),
      tables_(kept_tables(lobes_, steps_, !limit)) {}

Resampler::Step::Step(double in_rate, double out_rate) {
  const double step = std::min(in_rate / out_rate, 0x1p62);
  whole = static_cast<uint64_t>(step);
  rest = static_cast<uint64_t>((step - static_cast<double>(whole)) * 0x1p64);
}

int64_t Resampler::length(int64_t in, double in_rate, double out_rate) {
  return static_cast<int64_t>(std::min(std::ceil(static_cast<double>(in) * out_rate / in_rate), 0x1p62));
}

Resampler::Filter Resampler::filter(double in_rate, double out_rate) const {
  const double share = out_rate / in_rate;
  if (!limit_) return {lobes_, false, static_cast<float>(steps_), 1.0f};
  const double band = share < 1 ? share * kBand : 1.0;
  const double reach = std::min(std::ceil(lobes_ / band), static_cast<double>(kMostReach));
  return {static_cast<int64_t>(reach + 3) / 4 * 4, true, static_cast<float>(band * steps_), static_cast<float>(band)};
}

namespace {

#define PENSTOCK_LOOPS resampling
#define PENSTOCK_LOOPS_TEXT "numerics/resampling.inc.h"
#include "base/foreach_target.h"

// A signal, the filter over it, and the weights of its phases.
class Run {
 public:
  Run(const Resampler::Filter& filter, const Resampler::Step& step, const Sinc& sinc, const Signal& in, float* out,
      int64_t length)
      : filter_(filter),
        sinc_(sinc),
        in_(in),
        out_(out),
        length_(length),
        place_(step),
        weights_(step.rest, std::min(2 * filter.reach, in.n) + 1) {}

  void all() {
    while (done_ < length_)
      if (!whole_periods()) one();
  }

 private:
  Neighbors neighbors() const {
    Neighbors at;
    at.whole = place_.whole();
    at.fraction = place_.fraction();
    at.first = std::max<int64_t>(at.whole + (filter_.even || place_.rest() != 0) - filter_.reach, 0);
    at.count = static_cast<int>(std::max<int64_t>(std::min(at.whole + filter_.reach, in_.n - 1) - at.first + 1, 0));
    return at;
  }
  const float* weights_of(const Neighbors& at) {
    return weights_.of_next(at, [&](float* to) {
      if (sinc_.rows) PENSTOCK_FOR_TARGET(target_, resampling, weights_of_rows(sinc_, at, to));
      else PENSTOCK_FOR_TARGET(target_, resampling, make_weights(sinc_, at, to));
    });
  }
  void one() {
    const Neighbors at = neighbors();
    const float* const weights = weights_of(at);
    for (int c = 0; c < in_.channels; ++c)
      out_[done_ * in_.channels + c] =
          PENSTOCK_FOR_TARGET(target_, resampling, weighed(in_.of(c) + at.first, weights, at.count));
    place_.go(1), ++done_;
  }
  // As many periods as have the same weights and lie within the signal.
  bool whole_periods() {
    const int64_t phases = weights_.period();
    if (phases == 0 || !weights_.at_begin() || length_ - done_ < phases) return false;
    if (place_.whole() - filter_.reach < 0) return false;
    const Advance each = place_.advance(phases);
    int64_t periods = (length_ - done_) / phases;
    Place at = place_;
    for (int64_t p = 0; p + 1 < phases; ++p) at.go(1);
    if (const int64_t left = in_.n - 1 - filter_.reach - at.whole(); left < 0) return false;
    else if (each.whole > 0) periods = std::min(periods, left / each.whole + 1);
    const int64_t begin = place_.whole();
    phases_.clear();
    for (int64_t p = 0; p < phases; ++p, place_.go(1)) {
      periods = std::min(periods, place_.periods_alike(each));
      const Neighbors n = neighbors();
      phases_.push_back({weights_of(n), n.first - begin, n.count});
    }
    for (int c = 0; c < in_.channels; ++c)
      PENSTOCK_FOR_TARGET(target_, resampling,
                          run_phases(in_.of(c) + begin, each.whole, phases_.data(), phases, periods,
                                     out_ + done_ * in_.channels + c, in_.channels));
    place_.go(phases * (periods - 1));
    done_ += phases * periods;
    return true;
  }

  const Resampler::Filter filter_;
  const Sinc sinc_;
  const Signal in_;
  float* const out_;
  const int64_t length_;
  const Target target_ = best_target();
  Place place_;
  PhaseWeights weights_;
  std::vector<Phase> phases_;
  int64_t done_ = 0;
};

}  // namespace

void Resampler::run(const float* in, int64_t n, int channels, double in_rate, double out_rate, float* out,
                    int64_t length) const {
  std::vector<float> planes(channels > 1 ? static_cast<size_t>(n * channels) : 0);
  if (channels > 1)
    for (int c = 0; c < channels; ++c)
      for (int64_t i = 0; i < n; ++i) planes[static_cast<size_t>(c * n + i)] = in[i * channels + c];
  const Signal signal{channels > 1 ? planes.data() : in, n, channels};
  const Filter f = filter(in_rate, out_rate);
  const Sinc sinc{table().data(),     last(), f.scale, f.gain, limit_ ? nullptr : tables_->rows.data(),
                  row_length(lobes_), lobes_};
  Run(f, Step(in_rate, out_rate), sinc, signal, out, length).all();
}

}  // namespace penstock
