// SPDX-License-Identifier: Apache-2.0
// Band-limited interpolation of signals: a windowed sinc from a table (J. O. Smith, "Digital Audio Resampling", 2002).
// Output sample k lies at k * in_rate / out_rate of the input; outside the input is silence.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace penstock {

class Resampler {
 public:
  // Input samples from one output sample to the next: whole + rest / 2^64, so that positions are exact in long signals.
  struct Step {
    Step(double in_rate, double out_rate);
    uint64_t whole, rest;
  };
  // How the sinc lies over the input. The weight at a distance of d samples is gain times the table at d * scale.
  struct Filter {
    int64_t reach;  // samples to each side
    bool even;      // always 2 * reach samples, so that sums have whole vectors
    float scale, gain;
  };
  // quality: 0 to 100, for 3, 16 (at 50) to 64 lobes. A filter with `limit` removes what a lower rate cannot hold.
  explicit Resampler(double quality, bool limit = false);

  static int64_t length(int64_t in, double in_rate, double out_rate);  // rounded up
  Filter filter(double in_rate, double out_rate) const;
  // in: n x channels interleaved; out: length x channels
  void run(const float* in, int64_t n, int channels, double in_rate, double out_rate, float* out, int64_t length) const;

  int last() const { return lobes_ * steps_; }  // the table's place of the end of the sinc
  const std::vector<float>& table() const { return tables_->sinc; }

 private:
  struct Tables {
    std::vector<float> sinc;  // under Hann's window, so many steps a lobe
    // The same by step between two samples: a row has the weights of all neighbors side by side, from -lobes to lobes.
    std::vector<float> rows;
  };
  static Tables make_tables(int lobes, int steps, bool rows);
  static std::shared_ptr<const Tables> kept_tables(int lobes, int steps, bool rows);

  int lobes_, steps_;
  bool limit_;
  std::shared_ptr<const Tables> tables_;
};

}  // namespace penstock
