// SPDX-License-Identifier: Apache-2.0
// The steps of all samples of a whole operator, collected into launches.
#pragma once
#include "cuda/whole/images.h"
#include "cuda/whole/launches.h"
#include "cuda/whole/signals.h"
#include "numerics/reduction.h"
#include "operator/sample_work.h"

namespace penstock {

struct CopyStep {
  View from, to;
};
struct FillStep {
  View to;
  SampleNumbers values;
  int channel_dim;
};
struct DrawStep {
  View out;
  RandomStream stream;
  DrawRule rule;
  std::vector<std::byte> coef;
};
struct ReductionStep {
  View in, out;
  ReductionPlan plan;
  ReductionRule rule;
};
struct NormalizeStep {
  View in, out;
  ReductionPlan plan;
  NormalizeRule rule;
};

struct AxisStep {
  View in, out;
  int axis;
  AxisRule rule;
  std::vector<std::byte> coef;
};

void enqueue_copies(std::span<const CopyStep> steps, Launches& to);
void enqueue_fills(std::span<const FillStep> steps, Launches& to);
void enqueue_draws(std::span<const DrawStep> steps, Launches& to);
void enqueue_reductions(std::span<const ReductionStep> steps, Launches& to);
void enqueue_normalize(std::span<const NormalizeStep> steps, Launches& to);
void enqueue_axis_maps(std::span<const AxisStep> steps, Launches& to);

class DeviceWork final : public SampleWork, public DeviceSignals, public DeviceImages {
 public:
  explicit DeviceWork(Launches& launches) : DeviceSignals(launches), DeviceImages(launches) {}
  void copy(const View& from, const View& to) override {
    if (to.volume() > 0) now().copies.push_back({from, to});
  }
  void fill(const View& to, const SampleNumbers& values, int channel_dim) override {
    if (to.volume() > 0) now().fills.push_back({to, values, channel_dim});
  }
  void then() override { ++phase_; }
  void draw(const View& out, const RandomStream& stream, const DrawRule& rule,
            std::span<const std::byte> coef) override {
    if (out.volume() > 0) draws_.push_back({out, stream, rule, {coef.begin(), coef.end()}});
  }
  void reduce(const View& in, const ReductionPlan& plan, const ReductionRule& rule, const View& out) override {
    reductions_.push_back({in, out, plan, rule});
  }
  void normalize(const View& in, const ReductionPlan& plan, const NormalizeRule& rule, const View& out) override {
    normalized_.push_back({in, out, plan, rule});
  }
  void map_axis(const View& in, const View& out, int axis, const AxisRule& rule,
                std::span<const std::byte> coef) override {
    if (out.volume() > 0) axis_maps_.push_back({in, out, axis, rule, {coef.begin(), coef.end()}});
  }

  void next_sample() { phase_ = 0, next_image(); }
  void enqueue(Launches& to) const;

 private:
  struct Phase {
    std::vector<CopyStep> copies;
    std::vector<FillStep> fills;
  };
  Phase& now() {
    if (phases_.size() <= phase_) phases_.resize(phase_ + 1);
    return phases_[phase_];
  }
  size_t phase_ = 0;
  std::vector<Phase> phases_;  // steps of one phase write different memory
  std::vector<DrawStep> draws_;
  std::vector<ReductionStep> reductions_;
  std::vector<NormalizeStep> normalized_;
  std::vector<AxisStep> axis_maps_;
};

}  // namespace penstock
