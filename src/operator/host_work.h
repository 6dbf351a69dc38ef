// SPDX-License-Identifier: Apache-2.0
// The steps of whole operators on the host, at once: those on tensors are in sample_work.cpp, those on images in
// image_work.cpp, those on signals in signal_work.cpp.
#pragma once
#include "operator/sample_work.h"

namespace penstock {

class HostWork final : public SampleWork {
 public:
  bool at_once() const override { return true; }
  void copy(const View& from, const View& to) override;
  void fill(const View& to, const SampleNumbers& values, int channel_dim) override;
  void then() override {}
  void draw(const View& out, const RandomStream& stream, const DrawRule& rule,
            std::span<const std::byte> coef) override;
  void reduce(const View& in, const ReductionPlan& plan, const ReductionRule& rule, const View& out) override;
  void normalize(const View& in, const ReductionPlan& plan, const NormalizeRule& rule, const View& out) override;
  void map_axis(const View& in, const View& out, int axis, const AxisRule& rule,
                std::span<const std::byte> coef) override;
  void map(const View& in, const View& out, ElementStep step) override;
  void groups(const View& in, GroupStep step) override;
  void kernel(KernelStep step) override;
  void* scratch(size_t bytes) override;
  const float* maximum(const View& in) override;
  void transform(const View& in, const View& out, const FourierLines& lines,
                 std::shared_ptr<const RealFourier> transform,
                 std::shared_ptr<const std::vector<float>> window) override;
  void region(const View& in, const View& begin, const View& length, const HeardRule& rule) override;
};

}  // namespace penstock
