// SPDX-License-Identifier: Apache-2.0
// Samples of one form: images that are resampled to one size, each from a window of its own. What is written for them
// differs in a few numbers from what was written for the one that was looked at.
#pragma once
#include "cuda/stages/stage_geometry.h"

namespace penstock {

// The numbers of one axis, as a table of a tiled kernel has them.
struct AlikeAxis {
  double lo, scale;
  int64_t in, begin, step, hop, stride;
  int32_t taps;
};
struct AlikeSample {
  int64_t offset;  // bytes, of the first element that is read
  AlikeAxis x, y;
};

class SampleForm {
 public:
  // Looks at a sample that has gone the long way; false: those like it have to, too.
  bool make(const StageCode& code, const Placement& placement, const Shape& out, const SampleGeometry& g);
  void forget() { known_ = false; }
  bool known() const { return known_; }
  // Whether a sample with this placement is like that one. Its input is dense.
  bool fits(const Placement& placement, AlikeSample& sample) const;
  // The same of all samples of a batch, with these windows: the maps behind those do to sample i what they did to
  // kinds[kind_of[i]], which fits.
  bool fits(const Batch& in, std::span<const ImageWindow> windows, std::span<const uint8_t> kind_of,
            std::span<const AlikeSample> kinds, std::span<AlikeSample> samples) const;
  const SampleGeometry& geometry() const { return geometry_; }
  const Shape& out() const { return out_; }
  PackedWords packed;

 private:
  bool fits_axis(const DimMap& m, const DimMap& like, const AxisTaps& taps, int64_t stride, AlikeAxis& axis) const;
  bool fits_window(const AxisWindow& w, int64_t in, const DimMap& like, const AxisTaps& taps, AlikeAxis& axis) const;
  bool fits_text(const AlikeSample& s, int64_t row, int64_t reach_y, int64_t reach_x) const;
  bool known_ = false;
  FixedVector<DimMap, Shape::kMaxDims> dims_;  // H, W and maybe C
  SampleGeometry geometry_;
  Shape out_;
  int64_t inner_ = 1;      // elements of a pixel
  int64_t element_ = 1;    // bytes
  int64_t offset_ = 0;     // elements, of the window of channels
  double most_scale_ = 0;  // beyond it the text may be another one
};

// Writes the sample's numbers over those of the form.
void put_alike(const AlikeSample& sample, const StageRow<std::byte>& row);

}  // namespace penstock
