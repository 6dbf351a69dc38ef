// SPDX-License-Identifier: Apache-2.0
#include "numerics/fourier.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "numerics/fourier_plan.h"
#include "pixel/host_device.h"

namespace penstock {

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are only passed between inlined functions
#define PENSTOCK_LOOPS fourier
#define PENSTOCK_LOOPS_TEXT "numerics/fourier.inc.h"
#include "base/foreach_target.h"

namespace {

constexpr double kTurn = -2 * 3.14159265358979323846;

void add_root(std::vector<float>& to, int64_t k, int64_t n) {
  const double angle = kTurn * static_cast<double>(k % n) / static_cast<double>(n);
  to.push_back(static_cast<float>(std::cos(angle)));
  to.push_back(static_cast<float>(std::sin(angle)));
}

int next_radix(int n) {
  for (int r : {4, 2, 3, 5})
    if (n % r == 0) return r;
  for (int r = 7; r <= n / r; r += 2)
    if (n % r == 0) return r;
  return n;
}

}  // namespace

RealFourier::RealFourier(int length) : length_(length), complex_length_(length % 2 ? length : length / 2) {
  for (int left = complex_length_, span = 1; left > 1;) {
    Stage s;
    s.radix = next_radix(left);
    s.groups = left / s.radix;
    s.span = span;
    for (int j = 0; j < s.groups; ++j)
      for (int k = 1; k < s.radix; ++k) add_root(s.twiddles, static_cast<int64_t>(j) * k, left);
    if (s.radix > 5)
      for (int r = 0; r < s.radix; ++r) add_root(s.roots, r, s.radix);
    left = s.groups;
    span *= s.radix;
    stages_.push_back(std::move(s));
  }
  if (length_ % 2 == 0)
    for (int k = 0; k <= length_ / 2; ++k) add_root(half_turns_, k, length_);
}

void RealFourier::magnitudes(Target target, const FourierInput& in, const FourierOutput& out) const {
  thread_local std::vector<float> buffers, scratch;  // the input and the output of a stage, and the squares
  const size_t wanted = size_t{kFourierLanes} * (size_t{4} * complex_length_ + bins());
  if (buffers.size() < wanted) buffers.resize(wanted);
  int largest = 1;
  for (const Stage& s : stages_) largest = std::max(largest, s.radix);
  if (scratch.size() < size_t{4} * kFourierLanes * largest) scratch.resize(size_t{4} * kFourierLanes * largest);
  const auto run = PENSTOCK_FOR_TARGET(target, fourier, magnitudes);
  run(stages_, length_, complex_length_, half_turns_.data(), in, buffers.data(), scratch.data(), out);
}

std::shared_ptr<const std::vector<std::byte>> RealFourier::packed() const {
  std::vector<FourierStage> stages;
  std::vector<float> factors;
  const auto add = [&](const std::vector<float>& values) {
    const auto at = static_cast<int64_t>(factors.size());
    factors.insert(factors.end(), values.begin(), values.end());
    return at;
  };
  for (const Stage& s : stages_) stages.push_back({s.radix, s.groups, s.span, add(s.twiddles), add(s.roots)});
  const FourierPlan plan{length_, complex_length_, static_cast<int64_t>(stages.size()), add(half_turns_)};
  const size_t size = sizeof plan + stages.size() * sizeof(FourierStage) + factors.size() * sizeof(float);
  auto bytes = std::make_shared<std::vector<std::byte>>(size);
  std::byte* to = bytes->data();
  const auto put = [&](const void* from, size_t n) {
    std::memcpy(to, from, n);
    to += n;
  };
  put(&plan, sizeof plan);
  put(stages.data(), stages.size() * sizeof(FourierStage));
  put(factors.data(), factors.size() * sizeof(float));
  return bytes;
}

std::shared_ptr<const RealFourier> real_fourier(int length) {
  static std::mutex mutex;
  static std::map<int, std::shared_ptr<const RealFourier>> kept;
  const std::lock_guard lock(mutex);
  auto& found = kept[length];
  if (!found) found = std::make_shared<RealFourier>(length);
  return found;
}

std::vector<float> hann_window(int length) {
  std::vector<float> w(length);
  for (int i = 0; i < length; ++i) w[i] = static_cast<float>(0.5 * (1 - std::cos(kTurn * (i + 0.5) / length)));
  return w;
}

}  // namespace penstock
