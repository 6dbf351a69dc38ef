// SPDX-License-Identifier: Apache-2.0
// The random window of random_bbox_crop: its arguments, and which windows they allow for an image with boxes.
#pragma once
#include "ops/shared/box_rows.h"

namespace penstock {

struct BoxWindow {
  bool all_boxes_above_threshold = true, allow_no_crop = true, quiet = false;
  std::vector<float> aspect_ratio = {1, 1}, scaling = {1, 1}, thresholds = {0};
  Optional<float> bbox_prune_threshold;
  PerSample<std::vector<int64_t>> crop_shape, input_shape;
  std::string shape_layout, threshold_type = "iou";
  int num_attempts = 1, total_num_attempts = -1;

  struct Found {
    BoxExtent window;              // in units of the image
    std::vector<int64_t> pixels;   // x, y[, z] of the start of the window, if crop_shape gives its extents
    std::vector<int64_t> rows;     // the boxes that remain
    std::vector<BoxExtent> boxes;  // in units of the window
  };
  void check_box_window() const;
  Found find(const SampleContext& s, const std::vector<BoxExtent>& boxes, int dims) const;
  // x, y[, z] of one of the shape arguments.
  std::vector<int64_t> pixels_of(const PerSample<std::vector<int64_t>>& shape, const char* name, int sample,
                                 int dims) const;

 private:
  bool draw(const RandomStream& random, uint64_t first, int dims, const std::vector<int64_t>& image,
            const std::vector<int64_t>& crop, Found& found) const;
  // The least or the largest overlap. The first box that is below `enough`, or reaches it, may decide.
  double overlap(const BoxExtent& window, const std::vector<BoxExtent>& boxes, const std::vector<double>& volumes,
                 int dims, double enough) const;
  void keep_boxes(const std::vector<BoxExtent>& boxes, int dims, Found& found) const;
};

}  // namespace penstock
