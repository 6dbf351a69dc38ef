// SPDX-License-Identifier: Apache-2.0
#include "numerics/convolution.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace penstock {

using convolution::Planes;

namespace {

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are only passed between inlined functions
#define PENSTOCK_LOOPS convolving
#define PENSTOCK_LOOPS_TEXT "numerics/convolution.inc.h"
#include "base/foreach_target.h"

constexpr int64_t kSmallest = 256;  // size of a transform: a tile of every target
constexpr int64_t kTogether = 64;   // results of a step of sums(), of every target

void add_stage(int64_t n, int radix, std::vector<float>& to) {
  const int64_t m = n / radix;
  for (int k = 1; k < radix; ++k)
    for (const bool imaginary : {false, true})
      for (int64_t j = 0; j < m; ++j) {
        const double angle = -2 * 3.14159265358979323846 * static_cast<double>(j * k) / static_cast<double>(n);
        to.push_back(static_cast<float>(imaginary ? std::sin(angle) : std::cos(angle)));
      }
}

void convolve_directly(Target target, const ConvolutionPlan& plan, convolution::Signal in, convolution::Signal response,
                       float scale, int64_t begin, float* out, int64_t stride) {
  const int64_t rounded = (plan.results + kTogether - 1) / kTogether * kTogether, before = plan.taps - 1;
  std::vector<float> padded(static_cast<size_t>(rounded + before)), taps(static_cast<size_t>(plan.taps));
  for (int64_t k = 0; k < plan.taps; ++k) taps[static_cast<size_t>(k)] = response[k] * scale;
  const int64_t from = begin - before;
  const int64_t low = std::clamp<int64_t>(-from, 0, plan.results + before),
                high = std::clamp<int64_t>(in.length - from, low, plan.results + before);
  for (int64_t i = low; i < high; ++i) padded[static_cast<size_t>(i)] = in.first[(from + i) * in.stride];
  std::vector<float> made(static_cast<size_t>(rounded));
  PENSTOCK_FOR_TARGET(target, convolving, sums(padded.data(), taps.data(), plan.taps, plan.results, made.data()));
  for (int64_t i = 0; i < plan.results; ++i) out[i * stride] = made[static_cast<size_t>(i)];
}

// A part of the signal, zeros outside it.
void load_part(convolution::Signal in, int64_t from, int64_t size, float* to) {
  const int64_t low = std::clamp<int64_t>(-from, 0, size), high = std::clamp<int64_t>(in.length - from, low, size);
  std::fill(to, to + low, 0.0f);
  if (in.stride == 1) std::copy(in.first + from + low, in.first + from + high, to + low);
  else
    for (int64_t i = low; i < high; ++i) to[i] = in.first[(from + i) * in.stride];
  std::fill(to + high, to + size, 0.0f);
}

}  // namespace

ConvolutionPlan::ConvolutionPlan(int64_t t, int64_t r) : taps(t), results(r) {
  if (taps <= kDirectTaps || results == 0) return;
  double least = INFINITY;
  for (int64_t n = kSmallest, levels = 8; n <= 4 * kMostTaps; n *= 2, ++levels) {
    if (n < 2 * taps && n < taps + results - 1) continue;
    const int64_t each = n - taps + 1, count = (results + 2 * each - 1) / (2 * each);
    const double cost = static_cast<double>(count * n) * static_cast<double>(levels + 4);
    if (cost < least) least = cost, size = n, step = each;
    if (count == 1) break;
  }
  // One pair does it all: its halves share the results.
  if (pairs() == 1) step = (results + 1) / 2;
}

std::shared_ptr<const std::vector<std::byte>> convolution_factors(int64_t size) {
  static std::mutex mutex;
  static std::map<int64_t, std::shared_ptr<const std::vector<std::byte>>> kept;
  const std::lock_guard lock(mutex);
  auto& found = kept[size];
  if (found) return found;
  std::vector<float> factors;
  int64_t n = size;
  if (convolution::first_radix(size) == 2) add_stage(n, 2, factors), n /= 2;
  for (; n > 1; n /= 4) add_stage(n, 4, factors);
  std::vector<std::byte> bytes(factors.size() * sizeof(float));
  std::memcpy(bytes.data(), factors.data(), bytes.size());
  found = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return found;
}

void convolve(Target target, const ConvolutionPlan& plan, convolution::Signal in, convolution::Signal response,
              float scale, int64_t begin, float* out, int64_t stride) {
  if (plan.results == 0) return;
  if (plan.direct()) return convolve_directly(target, plan, in, response, scale, begin, out, stride);
  const auto bytes = convolution_factors(plan.size);
  const auto* const factors = reinterpret_cast<const float*>(bytes->data());
  const int64_t n = plan.size;
  thread_local std::vector<float> memory;
  if (memory.size() < static_cast<size_t>(4 * n)) memory.resize(static_cast<size_t>(4 * n));
  const Planes spectrum{memory.data(), memory.data() + n}, z{memory.data() + 2 * n, memory.data() + 3 * n};
  const float share = 1.0f / static_cast<float>(n);
  for (int64_t i = 0; i < n; ++i) spectrum.re[i] = response[i] * scale * share;
  std::fill(spectrum.im, spectrum.im + n, 0.0f);
  PENSTOCK_FOR_TARGET(target, convolving, response_spectrum(spectrum, n, factors));
  for (int64_t at = 0; at < plan.results; at += 2 * plan.step) {
    const int64_t from = begin + at - (plan.taps - 1);
    load_part(in, from, n, z.re);
    load_part(in, from + plan.step, n, z.im);
    PENSTOCK_FOR_TARGET(target, convolving, convolve_pair(z, spectrum, n, factors));
    for (const auto& [part, first] : {std::pair{z.re, at}, {z.im, at + plan.step}}) {
      const int64_t count = std::min(plan.step, plan.results - first);
      for (int64_t i = 0; i < count; ++i) out[(first + i) * stride] = part[plan.taps - 1 + i];
    }
  }
}

}  // namespace penstock
