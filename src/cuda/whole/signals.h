// SPDX-License-Identifier: Apache-2.0
// The steps of operators on signals, collected like those of device_work.h.
#pragma once
#include "cuda/whole/launches.h"
#include "operator/signal_work.h"

namespace penstock {

struct TransformStep {
  View in, out;
  FourierLines lines;
  std::shared_ptr<const RealFourier> transform;
  std::shared_ptr<const std::vector<float>> window;
};
struct RegionStep {
  View in, begin, length;
  HeardRule rule;
};
void enqueue_regions(std::span<const RegionStep> steps, Launches& to);
void enqueue_transforms(std::span<const TransformStep> steps, Launches& to);

class DeviceSignals {
 public:
  explicit DeviceSignals(Launches& launches) : launches_(launches) {}
  void map(const View& in, const View& out, ElementStep step) {
    if (out.volume() > 0) maps_.push_back({in, out, std::move(step)});
  }
  const float* maximum(const View& in) {
    maxima_.push_back({in, static_cast<float*>(launches_.scratch(sizeof(float)))});
    return maxima_.back().to;
  }
  void transform(const View& in, const View& out, const FourierLines& lines,
                 std::shared_ptr<const RealFourier> transform, std::shared_ptr<const std::vector<float>> window) {
    if (lines.count > 0) transforms_.push_back({in, out, lines, std::move(transform), std::move(window)});
  }
  void region(const View& in, const View& begin, const View& length, const HeardRule& rule) {
    regions_.push_back({in, begin, length, rule});
  }
  void enqueue(Launches& to) const;

 private:
  struct Maximum {
    View in;
    float* to;
  };
  struct Map {
    View in, out;
    ElementStep step;
  };
  Launches& launches_;
  std::vector<Maximum> maxima_;
  std::vector<Map> maps_;
  std::vector<TransformStep> transforms_;
  std::vector<RegionStep> regions_;
};

}  // namespace penstock
