// SPDX-License-Identifier: Apache-2.0
// The window of a fixed size of crop, crop_mirror_normalize, resize_crop_mirror and decoders.image_crop.
#pragma once
#include <algorithm>
#include <cmath>

#include "operator/operator.h"

namespace penstock {

struct CropWindow {
  PerSample<std::vector<float>> crop;
  PerSample<float> crop_w = 0.0f, crop_h = 0.0f, crop_d = 0.0f;
  PerSample<float> crop_pos_x = 0.5f, crop_pos_y = 0.5f, crop_pos_z = 0.5f;
  std::string rounding = "round";

  void check_crop_window() {
    if (crop.given() && (crop_w.given() || crop_h.given() || crop_d.given()))
      bad_argument("crop cannot be combined with crop_w, crop_h or crop_d");
    if (crop_w.given() != crop_h.given()) bad_argument("crop_w and crop_h must be given together");
    if (rounding != "round" && rounding != "truncate")
      bad_argument("rounding must be 'round' or 'truncate', got '{}'", rounding);
    rounds_ = rounding == "round";
    const auto one_size = [](const PerSample<float>& v) { return v.constant() && v.one() < 2147483648.0f; };
    one_size_ = crop.constant() && one_size(crop_w) && one_size(crop_h) && one_size(crop_d);
    if (one_size_ && crop.given()) {
      const std::vector<float>& v = crop.one();
      one_size_ = (v.size() == 2 || v.size() == 3) && *std::max_element(v.begin(), v.end()) < 2147483648.0f;
    }
    for (int i = 0; i < 3 && one_size_; ++i) extents_[i] = window_extent_of(0, "DHW"[i]);
  }
  // Extent of the window along an axis; 0: the whole axis.
  int64_t window_extent(int sample, char axis) const {
    return one_size_ ? extents_[axis == 'W' ? 2 : axis == 'H' ? 1 : 0] : window_extent_of(sample, axis);
  }
  int64_t window_extent_of(int sample, char axis) const {
    double size = 0;
    if (crop.given()) {
      const auto v = crop.values(sample);  // (H, W) or (D, H, W)
      if (v.size() != 2 && v.size() != 3) bad_argument("crop must have 2 or 3 values, got {}", v.size());
      const size_t from_end = axis == 'W' ? 1 : axis == 'H' ? 2 : 3;
      if (axis != 'D' || v.size() == 3) size = v[v.size() - from_end];
    } else {
      size = axis == 'W' ? crop_w[sample] : axis == 'H' ? crop_h[sample] : crop_d[sample];
    }
    if (!(size < 2147483648.0)) bad_argument("a window of {} samples is too large", size);
    return size >= 1 ? static_cast<int64_t>(size) : 0;
  }
  int64_t window_start(int sample, char axis, int64_t have, int64_t extent) const {
    const float pos = axis == 'W' ? crop_pos_x[sample] : axis == 'H' ? crop_pos_y[sample] : crop_pos_z[sample];
    if (!(pos >= 0 && pos <= 1))
      bad_argument("crop_pos_{} must be from 0 to 1, got {}", axis == 'W' ? 'x' : axis == 'H' ? 'y' : 'z', pos);
    const double at = static_cast<double>(pos) * static_cast<double>(have - extent);
    const auto whole = static_cast<int64_t>(at);
    if (!rounds_) return whole;
    const double rest = at - static_cast<double>(whole);
    return whole + (rest >= 0.5) - (rest <= -0.5);
  }
  // Calls f(dim, start, extent) for the spatial axes, and for the frames if they are cut.
  template <class F> void each_window(int sample, const Placement& p, F&& f) const {
    for (char axis : {'D', 'H', 'W'}) {
      const int64_t want = window_extent(sample, axis);
      int dim = p.dim(axis);
      if (dim < 0 && axis == 'D' && want) dim = p.dim('F');  // the frames of a sequence are its depth, as in DALI
      if (dim < 0) continue;
      const int64_t extent = want ? want : p.extent(dim);
      f(dim, window_start(sample, axis, p.extent(dim), extent), extent);
    }
  }
  // What is known of an extent before the image is decoded; -1: nothing.
  int64_t known_extent(int sample, char axis, int64_t in) const {
    if (axis == 'F') return window_extent(sample, 'D') ? -1 : in;  // if the layout has D as well, that axis is cut
    if (axis != 'D' && axis != 'H' && axis != 'W') return in;
    const int64_t want = window_extent(sample, axis);
    return want ? want : in;
  }

 private:
  // By check_crop_window:
  bool rounds_ = true;
  bool one_size_ = false;  // extents_ are the same for all samples
  int64_t extents_[3] = {};
};

template <class Op> Schema<Op>&& crop_window_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("crop", &Op::crop,
           "Size of the window, (height, width) or (depth, height, width); 0: the whole axis. The depth of a sequence "
           "without an axis D is its number of frames.")
      .arg("crop_w", &Op::crop_w, "Width of the window.")
      .arg("crop_h", &Op::crop_h, "Height of the window.")
      .arg("crop_d", &Op::crop_d, "Depth of the window; in a sequence without an axis D, its number of frames.")
      .arg("crop_pos_x", &Op::crop_pos_x, "Position of the window, 0: left, 1: right.")
      .arg("crop_pos_y", &Op::crop_pos_y, "Position of the window, 0: top, 1: bottom.")
      .arg("crop_pos_z", &Op::crop_pos_z, "Position of the window, 0: front, 1: back.")
      .arg("rounding", &Op::rounding,
           "How a start between two samples is rounded: 'round' (half away from zero) or 'truncate'.");
}

}  // namespace penstock
