// SPDX-License-Identifier: Apache-2.0
// The arguments of resize that resize_crop_mirror shares.
#pragma once
#include "operator/image_layout.h"
#include "ops/shared/interpolation.h"
#include "ops/shared/resize_size.h"

namespace penstock {

struct ResizeArguments : Interpolation {
  PerSample<std::vector<float>> size;
  PerSample<float> resize_x = 0.0f, resize_y = 0.0f, resize_z = 0.0f;
  PerSample<float> resize_shorter = 0.0f, resize_longer = 0.0f;
  std::string mode = "default";
  std::vector<float> max_size;
  PerSample<std::vector<float>> roi_start, roi_end;
  bool roi_relative = false, subpixel_scale = true;
  Optional<std::string> outside{"repeat"};
  std::string weights = "float32", compat;
  DType dtype = DType::none;

  void check_resize_arguments() const;
  ResizeRequest resize_request(const SampleContext& s, const Layout& layout) const;
  void resize(const SampleContext& s, Placement& p) const;

 protected:
  DType resized_type = DType::none;  // of the input

 private:
  void as_peer(AxisFilter& f) const;
  bool rounds_halves_up(int64_t channels) const;
};

template <class Op> Schema<Op>&& resize_arguments(Schema<Op>&& s) {
  return std::move(s)
      .with(&interpolation_arguments<Op>)
      .arg("size", &Op::size,
           "Size of the result per spatial axis, outermost first; one value is used for all. 0: no size for this "
           "axis, see mode. Negative: mirrored.")
      .arg("resize_x", &Op::resize_x, "Width of the result; 0: no size, see mode. Negative: mirrored.")
      .arg("resize_y", &Op::resize_y, "Height of the result; 0: no size, see mode. Negative: mirrored.")
      .arg("resize_z", &Op::resize_z, "Depth of the result; 0: no size, see mode. Negative: mirrored.")
      .arg("resize_shorter", &Op::resize_shorter, "Size of the shortest side; keeps the aspect ratio.")
      .arg("resize_longer", &Op::resize_longer, "Size of the longest side; keeps the aspect ratio.")
      .arg("mode", &Op::mode,
           "What the sizes mean. default: an axis without a size is scaled by the geometric mean of the other scales. "
           "stretch: an axis without a size keeps its extent. not_larger: keeps the aspect ratio; no side is larger "
           "than its size. not_smaller: keeps the aspect ratio; no side is smaller than its size.")
      .arg("max_size", &Op::max_size,
           "Upper limit of the result, one value or one per spatial axis. Where the aspect "
           "ratio is kept, all axes shrink together.")
      .arg("roi_start", &Op::roi_start,
           "Start of the region that is resized; a start after the end mirrors the "
           "result.")
      .arg("roi_end", &Op::roi_end, "End of the region that is resized.")
      .arg("roi_relative", &Op::roi_relative, "The region is given as fractions of the extents of the input.")
      .arg("subpixel_scale", &Op::subpixel_scale,
           "If a size is rounded, scale the region by the same factor, so that the requested scale stays exact. "
           "Otherwise the region fills the rounded size.")
      .arg(
          "outside", &Op::outside,
          "What the filter reads outside the input. repeat: its edge, as OpenCV does. cut: nothing; the weights inside "
          "are scaled to the sum 1, as Pillow, torchvision and TensorFlow do.")
      .arg("weights", &Op::weights,
           "What the weights of a filter are rounded to. float32. int16: integers of 16 bits, times one power of two "
           "of the axis, as torchvision does for bytes on a CPU.")
      .arg("compat", &Op::compat,
           "A library whose filters and positions these are. opencv: cv2.resize: no antialiasing, the nearest sample "
           "by the upper left corners of pixels, cubic with a = -0.75, lanczos3 means LANCZOS4. "
           "torchvision: the nearest sample by corners, in float32; outside='cut' "
           "with antialias, else cubic with a = -0.75. pillow: outside='cut', antialiased; nearest is exact but for "
           "positions on the edge between two samples, of which Pillow's sums of rounded numbers may take the other "
           "one.")
      .arg("dtype", &Op::dtype, "Type of the result; default: the input's.");
}

// What resize and its form have besides.
struct WholeResizeArguments : ResizeArguments {
  bool save_attrs = false;
  Optional<int> image_type;
};
template <class Op> Schema<Op>&& whole_resize_arguments(Schema<Op>&& s) {
  return std::move(s)
      .with(&resize_arguments<Op>)
      .arg("save_attrs", &Op::save_attrs,
           "Add an output: the extents of the input along D, H and W, int32, outermost first.")
      .arg("image_type", &Op::image_type, "Deprecated; accepted without effect.");
}

}  // namespace penstock
