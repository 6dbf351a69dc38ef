// SPDX-License-Identifier: Apache-2.0
// What teams do with windows of a signal and their complex spectra. A spectrum has `bins` pairs (real, imaginary) for
// each of `frames` windows. The table of all rules is a transform, and from `factors` on a window's factors.
#pragma once
#include <map>
#include <mutex>

#include "families/team/team.h"
#include "numerics/fourier.h"
#include "numerics/fourier_stages.h"
#include "numerics/mirrored.h"
#include "operator/operator.h"

namespace penstock {

// The spectra of windows of a signal. A unit is a window. In: the signal. Out: spectra, memory of the transforms.
struct SpectraRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t samples;
        int64_t step;
        int64_t begin;
        int64_t length;
        int64_t mirrors;
        int64_t by_bin;
        int64_t by_frame;
        int64_t own;
        int64_t factors;
      };
      PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team, Refusal&) {
        const fourier::Transform transform(table);
        const float* const window = reinterpret_cast<const float*>(table + c.factors);
        const float* const in = a.from<float>(0);
        for (int64_t t = team.begin; t < team.end; ++t) {
          fourier::Pair* const x = a.to<fourier::Pair>(1) + t * c.own;
          for (int64_t i = team.index; i < transform.plan.length; i += team.count) {
            const int64_t at = c.begin + t * c.step + i;
            const bool inside = at >= 0 && at < c.samples;
            float v = 0;
            if (i < c.length && inside) v = in[at] * window[i];
            if (i < c.length && !inside && c.mirrors) v = in[mirrored(at, c.samples)] * window[i];
            transform.put(x, i, v);
          }
          const fourier::Pair* const z = fourier::run(transform, x, x + transform.plan.points, team);
          fourier::Pair* const to = a.to<fourier::Pair>(0) + t * c.by_frame;
          for (int64_t f = team.index; f <= transform.plan.length / 2; f += team.count)
            to[f * c.by_bin] = transform.bin(z, f);
          team.sync();
        }
      });
};

// The windows that spectra are of, without their factors and times the length. A unit is a window. In: spectra, or
// magnitudes; then phases, and those before. Out: windows, memory of the transforms.
//
// The inverse transform of pairs (a, b) is the sum of the real and the imaginary part of the transform of a + b, where
// a is even and b odd around the middle.
struct WindowsRule {
  PENSTOCK_PIXEL(
      enum Phases : int64_t{kSpectra, kFlat, kDrawn, kPhases, kAccelerated}; struct Coef {
        int64_t by_bin;
        int64_t by_frame;
        int64_t bins;
        int64_t own;
        int64_t phases;
        int64_t squares;
        RandomStream draws;
        float momentum;
        float unused;
      };
      // The pair of frequency f of window t.
      PENSTOCK_HD static fourier::Pair number(const Arrays& a, const Coef& c, int64_t t, int64_t f) {
        const int64_t from = f * c.by_bin + t * c.by_frame;
        const int64_t at = t * c.bins + f;
        if (c.phases == kSpectra) return a.from<fourier::Pair>(0)[from];
        const float given = a.from<float>(0)[from];
        const float size = c.squares ? sqrt(given) : given;
        if (c.phases == kFlat) return {size, 0.0f};
        if (c.phases == kDrawn) {
          const uint64_t draw = 2 * static_cast<uint64_t>(at);
          return {size * c.draws.uniform(draw), size * c.draws.uniform(draw + 1)};
        }
        fourier::Pair v = a.from<fourier::Pair>(1)[at];
        if (c.phases == kAccelerated) {
          const fourier::Pair before = a.from<fourier::Pair>(2)[at];
          v = {v.re - c.momentum * before.re, v.im - c.momentum * before.im};
        }
        const float length = sqrt(v.re * v.re + v.im * v.im) + 1e-16f;
        return {size * (v.re / length), size * (v.im / length)};
      } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team, Refusal&) {
        const fourier::Transform transform(table);
        const int64_t n = transform.plan.length;
        for (int64_t t = team.begin; t < team.end; ++t) {
          fourier::Pair* const x = a.to<fourier::Pair>(1) + t * c.own;
          for (int64_t f = team.index; f <= n / 2; f += team.count) {
            const fourier::Pair v = number(a, c, t, f);
            const bool real = f == 0 || 2 * f == n;
            transform.put(x, f, real ? v.re : v.re + v.im);
            if (!real) transform.put(x, n - f, v.re - v.im);
          }
          const fourier::Pair* const z = fourier::run(transform, x, x + transform.plan.points, team);
          float* const to = a.to<float>(0) + t * n;
          for (int64_t i = team.index; i <= n / 2; i += team.count) {
            const fourier::Pair v = transform.bin(z, i);
            to[i] = v.re + v.im;
            if (i > 0) to[n - i] = v.re - v.im;
          }
          team.sync();
        }
      });
};

// The signal that overlapping windows make: their weighted mean. A unit is a sample. In: windows. Out: the signal.
struct OverlapRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t frames;
        int64_t step;
        int64_t begin;
        int64_t length;
        int64_t size;
        int64_t factors;
      };
      PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team, Refusal&) {
        const float* const window = reinterpret_cast<const float*>(table + c.factors);
        const float* const in = a.from<float>(0);
        for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
          const int64_t at = i - c.begin;
          const int64_t last = at / c.step < c.frames ? at / c.step : c.frames - 1;
          float sum = 0;
          float weight = 0;
          for (int64_t t = at < c.length ? 0 : (at - c.length) / c.step + 1; t <= last; ++t) {
            const int64_t k = at - t * c.step;
            sum += in[t * c.size + k] * window[k];
            weight += window[k] * window[k];
          }
          a.to<float>(0)[i] = weight > 1e-11f ? sum / (weight * static_cast<float>(c.size)) : 0.0f;
        }
      });
};

constexpr const char* kSpectraHeader = "families/team/kernels/spectra.h";

// Windows of a signal: where they lie and their transform. Window t is of samples [begin + t * step, ... + length), and
// zeros follow up to the transform's length.
struct SpectraPlan {
  int64_t length, step, begin, frames;
  std::shared_ptr<const RealFourier> transform;
  TeamTable table;  // as the rules take it
  int64_t factors;

  int64_t bins() const { return transform->bins(); }
  int64_t size() const { return transform->length(); }
  // Pairs of memory of a window's transform, from one window to the next, and of all: a host has them one by one.
  int64_t pairs() const { return size() % 2 ? 2 * size() : size(); }
  int64_t own(const SampleWork& to) const { return to.at_once() ? 0 : pairs(); }
  int64_t memory(const SampleWork& to) const { return to.at_once() ? pairs() : pairs() * frames; }
};

// The transform and the window of an operator, as a table; made once for each length of the transform.
class KeptSpectra {
 public:
  // The factors may be fewer than the transform's length, and begin at `at`.
  SpectraPlan plan(int nfft, const std::vector<float>& window, int64_t at = 0) const {
    const std::lock_guard lock(kept_->mutex);
    SpectraPlan& plan = kept_->by_length[nfft];
    if (plan.table) return plan;
    plan.transform = real_fourier(nfft);
    auto bytes = std::make_shared<std::vector<std::byte>>(*plan.transform->packed());
    plan.factors = static_cast<int64_t>(bytes->size());
    std::vector<float> factors(static_cast<size_t>(nfft));
    std::copy(window.begin(), window.end(), factors.begin() + at);
    const auto add = std::as_bytes(std::span(factors));
    bytes->insert(bytes->end(), add.begin(), add.end());
    plan.table = bytes;
    return plan;
  }

 private:
  struct Kept {
    std::mutex mutex;
    std::map<int, SpectraPlan> by_length;
  };
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

// Whether windows that are so far apart see all samples between the first and the last of them.
inline bool windows_see_all(const std::vector<float>& window, int64_t step) {
  const auto n = static_cast<int64_t>(window.size());
  for (int64_t k = 0; k < step; ++k) {
    double weight = 0;
    for (int64_t i = k; i < n; i += step) weight += double{window[i]} * window[i];
    if (weight <= 1e-11) return false;
  }
  return true;
}

// The plan of an inverse transform from what its operator has been given; a window of fewer elements than the transform
// begins with it, or lies in its middle. Without begin, frames and length.
inline SpectraPlan spectra_plan(const KeptSpectra& kept, int64_t bins, const Optional<int>& nfft,
                                const Optional<int>& window_length, const Optional<int>& window_step,
                                const Optional<std::vector<float>>& window_fn, bool middle) {
  if (bins < 1) bad_argument("a spectrogram without frequencies has no signal");
  if (bins > 1 << 23) bad_argument("{} frequencies are more than the limit of {}", bins, 1 << 23);
  const int n = nfft.given() ? *nfft : std::max(1, 2 * static_cast<int>(bins) - 2);
  if (n / 2 + 1 != bins) bad_argument("nfft {} has {} frequencies, but the input has {}", n, n / 2 + 1, bins);
  const int wide = window_length.given() ? *window_length : n;
  if (wide > n) bad_argument("window_length {} is more than nfft {}", wide, n);
  const int step = window_step.given() ? *window_step : std::max(1, wide / 2);
  const std::vector<float> window = window_fn.given() ? *window_fn : hann_window(wide);
  if (static_cast<int>(window.size()) != wide)
    bad_argument("window_fn has {} values, but window_length is {}", window.size(), wide);
  if (!windows_see_all(window, step))
    bad_argument(
        "windows that are {} samples apart leave samples that window_fn does not see; take a smaller "
        "window_step",
        step);
  SpectraPlan p = kept.plan(n, window, middle ? (n - wide) / 2 : 0);
  p.length = wide, p.step = step;
  return p;
}

// Where the spectra of an input lie: the strides of frequencies and of windows.
struct SpectraPlaces {
  int64_t by_bin, by_frame;
};

inline void spectra_of(const float* signal, int64_t samples, const SpectraPlan& p, bool mirrors, SpectraPlaces places,
                       float* out, float* own, SampleWork& to) {
  run_team<SpectraRule>(
      {.in = {signal},
       .out = {out, own},
       .units = p.frames,
       .header = kSpectraHeader,
       .unit_for_team = true,
       .table = p.table},
      {samples, p.step, p.begin, p.length, mirrors, places.by_bin, places.by_frame, p.own(to), p.factors}, to);
}
inline void windows_of(std::vector<const void*> from, const SpectraPlan& p, const WindowsRule::Coef& c, float* windows,
                       float* own, SampleWork& to) {
  run_team<WindowsRule>({.in = std::move(from),
                         .out = {windows, own},
                         .units = p.frames,
                         .header = kSpectraHeader,
                         .unit_for_team = true,
                         .table = p.table},
                        c, to);
}
inline void signal_of(const float* windows, const SpectraPlan& p, float* out, int64_t samples, SampleWork& to) {
  run_team<OverlapRule>({.in = {windows}, .out = {out}, .units = samples, .header = kSpectraHeader, .table = p.table},
                        {p.frames, p.step, p.begin, p.length, p.size(), p.factors}, to);
}

}  // namespace penstock
