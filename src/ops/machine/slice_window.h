// SPDX-License-Identifier: Apache-2.0
// The window of slice and decoders.image_slice: absolute or relative, along axes named by number or letter.
#pragma once
#include "ops/machine/operator.h"

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
  // Extents of -1 are unknown; the windows that depend on them are left out.
  std::vector<Window> windows(int sample, const Layout& layout, const Shape& extents) const;
  // The extent along a letter of the layout as far as it is known without the image's.
  int64_t known_extent(int sample, const Layout& layout, char axis, int64_t in) const;
};

template <class Op> Schema<Op>&& slice_window_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("start", &Op::start, "First sample, one value per axis.")
      .arg("end", &Op::end, "Sample behind the last.")
      .arg("shape", &Op::shape,
           "Extent in samples; as an input beside anchor it may be relative to the image, as normalized_shape says.")
      .arg("rel_start", &Op::rel_start, "First sample in units of the extent.")
      .arg("rel_end", &Op::rel_end, "End in units of the extent.")
      .arg("rel_shape", &Op::rel_shape, "Extent in units of the extent.")
      .arg("axes", &Op::axes, "The axes that the values belong to; negative ones count from the back.")
      .arg("axis_names", &Op::axis_names, "The same by letters of the layout; wins over axes.")
      .arg("normalized_anchor", &Op::normalized_anchor, "A floating point anchor is in units of the extent.")
      .arg("normalized_shape", &Op::normalized_shape,
           "A floating point shape beside an anchor is in units of the extent.")
      .arg("anchor", &Op::anchor, "First sample, given as an input together with shape.")
      .argument_inputs({"anchor", "shape"});
}

}  // namespace penstock
