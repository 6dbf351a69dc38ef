// SPDX-License-Identifier: Apache-2.0
// The window of slice and decoders.image_slice: absolute or relative, along axes given by number or letter.
#pragma once
#include "operator/operator.h"

namespace penstock {

struct SliceWindow {
  PerSample<std::vector<double>> anchor, shape;
  PerSample<std::vector<int64_t>> start, end;
  PerSample<std::vector<float>> rel_start, rel_end, rel_shape;
  PerSample<std::vector<int64_t>> axes = std::vector<int64_t>{1, 0};
  Optional<std::string> axis_names = std::string("WH");
  bool normalized_anchor = true, normalized_shape = true;

  struct Window {
    int dim;
    int64_t start, extent;
  };
  void check_slice_window() const;
  std::vector<int> named_axes(int sample, const Layout& layout, int ndim) const;
  // Extents of -1 are unknown; windows that depend on them are omitted.
  std::vector<Window> windows(int sample, const Layout& layout, const Shape& extents) const;
  // The extent along a letter of the layout, if it is known without the image's.
  int64_t known_extent(int sample, const Layout& layout, char axis, int64_t in) const;
};

template <class Op> Schema<Op>&& slice_window_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("start", &Op::start, "First sample, one value per axis.")
      .arg("end", &Op::end, "Sample after the last one.")
      .arg("shape", &Op::shape,
           "Extent in samples. As an input beside anchor it may be a fraction of the image, as normalized_shape says.")
      .arg("rel_start", &Op::rel_start, "First sample, as a fraction of the extent.")
      .arg("rel_end", &Op::rel_end, "End, as a fraction of the extent.")
      .arg("rel_shape", &Op::rel_shape, "Extent, as a fraction of the input's.")
      .arg("axes", &Op::axes, "The axes that the values belong to; negative numbers count from the end.")
      .arg("axis_names", &Op::axis_names, "The same by letters of the layout; takes precedence over axes.")
      .arg("normalized_anchor", &Op::normalized_anchor, "True: a floating point anchor is a fraction of the extent.")
      .arg("normalized_shape", &Op::normalized_shape,
           "True: a floating point shape beside an anchor is a fraction of the extent.")
      .arg("anchor", &Op::anchor, "First sample, given as an input together with shape.")
      .argument_inputs({"anchor", "shape"});
}

}  // namespace penstock
