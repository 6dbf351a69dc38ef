// SPDX-License-Identifier: Apache-2.0
// Samples of one form: images that are resampled to one size, each from a window of its own. What is written for them
// differs in a few numbers from what was written for the one that was looked at.
#pragma once
#include "batch/batch.h"
#include "stage/geometry.h"

namespace penstock {

// The numbers of one axis.
struct AlikeAxis {
  double lo, scale;
  int64_t in, begin, step, hop, stride;
  int32_t taps;
};
struct AlikeSample {
  int64_t offset;  // bytes, of the first element that is read
  AlikeAxis x, y;
};

// The filters along width and height of the sample that a form is made of; a scale of x beyond which samples differ in
// more than their numbers.
struct FormTaps {
  AxisTaps x, y;
  double most_scale;
};

class SampleForm {
 public:
  // Looks at a sample that has gone the long way; false: those like it have to, too. `element`: bytes of one of the
  // input.
  bool make(const Placement& placement, const Shape& out, const SampleGeometry& g, const FormTaps& taps,
            size_t element);
  void forget() { known_ = false; }
  bool known() const { return known_; }
  // Whether a sample with this placement is like that one. Its input is dense.
  bool fits(const Placement& placement, AlikeSample& sample) const;
  // The same of all samples of a batch, with these windows: the maps after those do to sample i what they did to
  // kinds[kind_of[i]], which fits.
  bool fits(const Batch& in, std::span<const ImageWindow> windows, std::span<const uint8_t> kind_of,
            std::span<const AlikeSample> kinds, std::span<AlikeSample> samples) const;
  const Shape& out() const { return out_; }

 private:
  bool fits_axis(const DimMap& m, const DimMap& like, const AxisTaps& taps, int64_t stride, AlikeAxis& axis) const;
  bool fits_window(const AxisWindow& w, int64_t in, const DimMap& like, const AxisTaps& taps, AlikeAxis& axis) const;
  bool fits_text(const AlikeSample& s, int64_t row, int64_t reach_y, int64_t reach_x) const;
  bool known_ = false;
  FixedVector<DimMap, Shape::kMaxDims> dims_;  // H, W and maybe C
  FormTaps taps_{};
  Shape out_;
  int64_t inner_ = 1;    // elements of a pixel
  int64_t element_ = 1;  // bytes
  int64_t offset_ = 0;   // elements, of the window of channels
};

}  // namespace penstock
