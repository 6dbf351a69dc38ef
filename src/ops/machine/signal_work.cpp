// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/signal_work.h"

#include <algorithm>
#include <limits>

namespace penstock {
namespace {

class HostSignals final : public SignalWork {
 public:
  void map(const View&, const View&, ElementStep step) override { step.host(); }

  const float* maximum(const View& in) override {
    thread_local float top;
    const auto* from = in.as<const float>();
    top = -std::numeric_limits<float>::infinity();
    float part[16];  // which vectorizes
    std::fill_n(part, 16, top);
    const int64_t n = in.volume();
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
      for (int k = 0; k < 16; ++k) part[k] = from[i + k] > part[k] ? from[i + k] : part[k];
    for (const float p : part) top = p > top ? p : top;
    for (; i < n; ++i) top = from[i] > top ? from[i] : top;
    return &top;
  }

  void transform(const View& in, const View& out, const FourierLines& lines, std::shared_ptr<const RealFourier> transform,
                 std::shared_ptr<const std::vector<float>> window) override {
    const auto* from = in.as<const float>();
    auto* to = out.as<float>();
    const int64_t n = in.volume(), bins = transform->bins();
    const Target target = best_target();
    thread_local std::vector<float> elements, result;
    elements.resize(static_cast<size_t>(transform->length()) * kFourierLanes);
    result.resize(static_cast<size_t>(bins) * kFourierLanes);
    for (int64_t l = 0; l < lines.count; l += kFourierLanes) {
      const int some = static_cast<int>(std::min<int64_t>(kFourierLanes, lines.count - l));
      std::fill(elements.begin(), elements.end(), 0.0f);
      for (int k = 0; k < some; ++k) load(from, n, lines, l + k, window ? window->data() : nullptr, &elements[k]);
      transform->magnitudes(target, elements.data(), result.data(), lines.squared);
      if (lines.inner == 1 && lines.out_outer == 1) {  // lines are neighbors
        for (int64_t f = 0; f < bins; ++f) std::copy_n(&result[f * kFourierLanes], some, to + f * lines.out_stride + l);
        continue;
      }
      for (int k = 0; k < some; ++k) {
        float* line = to + (l + k) / lines.inner * lines.out_outer + (l + k) % lines.inner * lines.out_inner;
        for (int64_t f = 0; f < bins; ++f) line[f * lines.out_stride] = result[f * kFourierLanes + k];
      }
    }
  }

 private:
  // A line into every kFourierLanes-th element.
  static void load(const float* from, int64_t n, const FourierLines& lines, int64_t l, const float* window, float* to) {
    const int64_t begin = lines.begin + l / lines.inner * lines.in_outer + l % lines.inner * lines.in_inner, stride = lines.in_stride;
    if (begin >= 0 && begin + (lines.length - 1) * stride < n) {
      if (window)
        for (int64_t i = 0; i < lines.length; ++i) to[i * kFourierLanes] = from[begin + i * stride] * window[i];
      else
        for (int64_t i = 0; i < lines.length; ++i) to[i * kFourierLanes] = from[begin + i * stride];
      return;
    }
    for (int64_t i = 0; i < lines.length; ++i) {
      int64_t at = begin + i * stride;
      if (at < 0 || at >= n) {
        if (!lines.mirrored) continue;
        at = Mirror::place(at, n);
      }
      to[i * kFourierLanes] = window ? from[at] * window[i] : from[at];
    }
  }
};

}  // namespace

SignalWork& host_signals() {
  static HostSignals work;
  return work;
}

}  // namespace penstock
