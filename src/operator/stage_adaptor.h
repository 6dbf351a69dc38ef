// SPDX-License-Identifier: Apache-2.0
// The decoder and the map of an operator of the stage families; pixel_adaptor.h adds the pixel part.
#pragma once
#include "operator/result_adaptor.h"

namespace penstock {

template <class Op> class StageAdaptor : public ResultAdaptor<Op> {
  using Result = ResultAdaptor<Op>;
  using Result::kDecodes, Result::kMaps;
  static constexpr bool kConvolves = std::derived_from<Op, ConvolutionOperator>;

 public:
  using Adaptor<Op>::op;

  StageTraits traits() const override {
    StageTraits t;
    t.decodes = kDecodes;
    t.maps = kMaps;
    if constexpr (kMaps) t.filters = op.filters(), t.fills = op.fills(), t.maps_channels = op.maps_channels();
    t.warps = std::derived_from<Op, WarpOperator>;
    t.convolves = kConvolves;
    t.own_shapes = Result::kJoins || Result::kChangesChannels;
    return t;
  }
  DecodeParams decode_params() const override {
    if constexpr (kDecodes) return op.decode_params();
    else return {};
  }
  void map(const SampleContext& s, Placement& p) const override {
    if constexpr (kMaps) op.map(s, p);
  }
  void windows(const SampleContext& s, const Layout& layout, int ndim, AxisWindows& to) const override {
    if constexpr (kConvolves) op.windows(s, layout, ndim, to);
  }
  bool all_windows(std::span<const SampleContext> s, const Layout& layout, int ndim, AxisWindows& to) const override {
    if constexpr (kConvolves) return op.all_windows(s, layout, ndim, to);
    else return false;
  }
  bool image_windows(std::span<const SampleContext> s, std::span<const ImageExtent> from,
                     std::span<ImageWindow> to) const override {
    if constexpr (std::derived_from<Op, ResampleOperator>) return op.image_windows(s, from, to);
    else return false;
  }
};

}  // namespace penstock
