// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "families/team/team.h"
#include "ops/shared/random_values.h"

namespace penstock {

struct RoiRandomCrop : WholeOperator {
  using Numbers = PerSample<std::vector<int64_t>>;
  Numbers crop_shape, roi_start, roi_end, roi_shape, in_shape;

  static Schema<RoiRandomCrop> schema() {
    using Op = RoiRandomCrop;
    return Schema<Op>("roi_random_crop",
                      "Draws the start of a window that holds as much of a region as it can.\n\n"
                      "The shape of the window is given. A window that is larger than the region holds all of it; a "
                      "smaller one is inside it. Output: the start of the window, 1-D int64. The window stays in the "
                      "extents of the input or of in_shape; without both it may extend beyond the image.\n\n"
                      "Example:\n"
                      ">>> begin = fn.roi_random_crop(crop_shape=[32, 32], roi_start=[8, 8], roi_end=[24, 40])")
        .required("crop_shape", &Op::crop_shape, "Extents of the window.")
        .required("roi_start", &Op::roi_start, "Start of the region.")
        .arg("roi_end", &Op::roi_end, "End of the region, instead of roi_shape.")
        .arg("roi_shape", &Op::roi_shape, "Extents of the region, instead of roi_end.")
        .arg("in_shape", &Op::in_shape, "Extents that the window stays in.")
        .inputs(0, 1)
        .random()
        .reads_shapes()
        .oracle("dali");
  }
  void ready() override {
    if (roi_end.given() == roi_shape.given()) bad_argument("give either roi_end or roi_shape");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (!in.empty() && in_shape.given()) bad_argument("in_shape and an input are mutually exclusive");
    out[0] = {DType::int64, 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = {static_cast<int64_t>(crop_shape.values(s.index).size())};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const RandomStream random = RandomValues::stream(s);
    const auto crop = crop_shape.values(s.index), start = roi_start.values(s.index);
    const auto other = (roi_end.given() ? roi_end : roi_shape).values(s.index);
    const size_t n = crop.size();
    std::vector<int64_t> bounds;
    if (in_shape.given()) bounds = in_shape[s.index];
    else if (!in.empty()) bounds.assign(in[0].shape.begin(), in[0].shape.begin() + in[0].shape.size());
    const bool bounded = in_shape.given() || !in.empty();
    // The region may omit the last dimensions of an input, such as channels.
    if (start.size() != n || other.size() != n || (bounded && (in.empty() ? bounds.size() != n : bounds.size() < n)))
      bad_argument(
          "crop_shape, roi_start, the end or shape of the region, and the input have {}, {}, {} and {} dimensions", n,
          start.size(), other.size(), bounded ? std::to_string(bounds.size()) : "any");
    constexpr int64_t kFar = int64_t{1} << 40;
    std::vector<int64_t> begin(n);
    for (size_t d = 0; d < n; ++d) {
      for (int64_t v : {crop[d], start[d], other[d]})
        if (v < -kFar || v > kFar) bad_argument("a window or region of axis {} is too large", d);
      const int64_t end = roi_end.given() ? other[d] : start[d] + other[d];
      if (crop[d] < 0) bad_argument("crop_shape must not be negative, got {}", crop[d]);
      if (end < start[d]) bad_argument("the region ends at {} before it starts at {}", end, start[d]);
      int64_t low = std::min(start[d], end - crop[d]), high = std::max(start[d], end - crop[d]);
      if (bounded) {
        if (crop[d] > bounds[d]) bad_argument("a window of {} does not fit into {} on axis {}", crop[d], bounds[d], d);
        if (start[d] < 0 || end > bounds[d])
          bad_argument("the region from {} to {} extends beyond {} on axis {}", start[d], end, bounds[d], d);
        low = std::max<int64_t>(low, 0), high = std::min(high, bounds[d] - crop[d]);
      }
      const auto choices = static_cast<uint64_t>(high - low + 1);
      const double u = uniform01_wide(random.draw64(d));
      begin[d] = std::min(high, low + static_cast<int64_t>(u * static_cast<double>(choices)));
    }
    give_numbers(out[0], begin, to);
  }
};
PENSTOCK_OPERATOR(RoiRandomCrop);

}  // namespace penstock
