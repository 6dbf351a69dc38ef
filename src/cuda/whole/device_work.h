// SPDX-License-Identifier: Apache-2.0
// The steps of all samples of a whole operator, collected into launches.
#pragma once
#include "cuda/whole/launches.h"
#include "operator/image_work.h"
#include "operator/kernel_step.h"
#include "operator/signal_work.h"

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
struct GroupsStep {
  View in;
  GroupStep step;
};
struct MapStep {
  View in, out;
  ElementStep step;
};
struct MaximumStep {
  View in;
  float* to;
};
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

void enqueue_copies(std::span<const CopyStep> steps, Launches& to);
void enqueue_fills(std::span<const FillStep> steps, Launches& to);
void enqueue_draws(std::span<const DrawStep> steps, Launches& to);
void enqueue_reductions(std::span<const ReductionStep> steps, Launches& to);
void enqueue_normalize(std::span<const NormalizeStep> steps, Launches& to);
void enqueue_axis_maps(std::span<const AxisStep> steps, Launches& to);
void enqueue_kernels(std::span<const KernelStep> steps, Launches& to);
void enqueue_groups(std::span<const GroupsStep> steps, Launches& to);
void enqueue_maps(std::span<const MapStep> steps, Launches& to);
void enqueue_maxima(std::span<const MaximumStep> steps, Launches& to);
void enqueue_transforms(std::span<const TransformStep> steps, Launches& to);
void enqueue_regions(std::span<const RegionStep> steps, Launches& to);

class DeviceWork final : public SampleWork {
 public:
  explicit DeviceWork(Launches& launches) : launches_(launches) {}
  void copy(const View& from, const View& to) override {
    if (to.volume() > 0) now().copies.push_back({from, to});
  }
  void fill(const View& to, const SampleNumbers& values, int channel_dim) override {
    if (to.volume() > 0) now().fills.push_back({to, values, channel_dim});
  }
  void then() override { ++phase_, group_phase_ = 0; }
  void draw(const View& out, const RandomStream& stream, const DrawRule& rule,
            std::span<const std::byte> coef) override {
    if (out.volume() > 0) now().draws.push_back({out, stream, rule, {coef.begin(), coef.end()}});
  }
  void reduce(const View& in, const ReductionPlan& plan, const ReductionRule& rule, const View& out) override {
    now().reductions.push_back({in, out, plan, rule});
  }
  void normalize(const View& in, const ReductionPlan& plan, const NormalizeRule& rule, const View& out) override {
    now().normalized.push_back({in, out, plan, rule});
  }
  void map_axis(const View& in, const View& out, int axis, const AxisRule& rule,
                std::span<const std::byte> coef) override {
    if (out.volume() > 0) now().axis_maps.push_back({in, out, axis, rule, {coef.begin(), coef.end()}});
  }

  void groups(const View& in, GroupStep step) override {
    at(now().groups, group_phase_++).push_back({in, std::move(step)});
  }
  void kernel(KernelStep step) override {
    if (step.work == 0) return;
    if (step.refused) ask(step);
    now().kernels.push_back(std::move(step));
  }
  void* scratch(size_t bytes) override { return launches_.scratch(bytes); }
  void map(const View& in, const View& out, ElementStep step) override {
    if (out.volume() > 0) now().maps.push_back({in, out, std::move(step)});
  }
  const float* maximum(const View& in) override {
    return now().maxima.emplace_back(in, static_cast<float*>(scratch(sizeof(float)))).to;
  }
  void transform(const View& in, const View& out, const FourierLines& lines,
                 std::shared_ptr<const RealFourier> transform,
                 std::shared_ptr<const std::vector<float>> window) override {
    if (lines.count > 0) now().transforms.push_back({in, out, lines, std::move(transform), std::move(window)});
  }
  void region(const View& in, const View& begin, const View& length, const HeardRule& rule) override {
    now().regions.push_back({in, begin, length, rule});
  }

  void begin_sample(int i) { sample_ = i, phase_ = group_phase_ = 0; }
  void enqueue(Launches& to) const;
  // What kernels have found wrong, sample by sample: waits until they have run.
  void settle(const std::function<void(int sample, Error)>& refuse) const;

 private:
  // The steps between two calls of then(), in the order in which they run.
  struct Phase {
    std::vector<CopyStep> copies;
    std::vector<FillStep> fills;
    std::vector<KernelStep> kernels;
    std::vector<DrawStep> draws;
    std::vector<ReductionStep> reductions;
    std::vector<NormalizeStep> normalized;
    std::vector<AxisStep> axis_maps;
    std::vector<std::vector<GroupsStep>> groups;  // by the calls since then()
    std::vector<MaximumStep> maxima;
    std::vector<TransformStep> transforms;
    std::vector<RegionStep> regions;
    std::vector<MapStep> maps;
  };
  template <class T> static T& at(std::vector<T>& all, size_t i) {
    if (all.size() <= i) all.resize(i + 1);
    return all[i];
  }
  Phase& now() { return at(phases_, phase_); }
  void ask(KernelStep& step);
  struct Asked {
    int sample;
    std::function<void(const Refusal&)> refused;
  };
  Launches& launches_;
  int sample_ = 0;
  size_t phase_ = 0, group_phase_ = 0;
  std::vector<Asked> asked_;
  std::vector<Refusal*> refusals_;  // blocks of kRefusals on the device
  std::vector<Phase> phases_;       // steps of one phase write different memory
};

}  // namespace penstock
