// SPDX-License-Identifier: Apache-2.0
#include "operator/image_work.h"
#include "ops/shared/circle_votes.h"
#include "ops/shared/found_arrays.h"

namespace penstock {

struct HoughCircles : FindOperator {
  float accumulator_scale = 1.0f, min_distance = 20.0f;
  int edge_threshold = 100, threshold = 100, min_radius = 0, max_radius = 0, max_circles = 0;

  static Schema<HoughCircles> schema() {
    using Op = HoughCircles;
    return Schema<Op>("hough_circles",
                      "Finds circles in a gray image by the Hough transform.\n\nThe edges of the image are those of "
                      "canny; each pixel of them votes along its gradient for centers, and the radius of a center is "
                      "the one at which most edges are. This is OpenCV's HoughCircles with HOUGH_GRADIENT. Smooth "
                      "noise before, as by gaussian_blur. Input: an image of one channel, uint8, layouts HW, HWC and "
                      "CHW. Outputs: circles, (K, 3) float32, the x and y of the center and the radius, in pixels; and "
                      "how many pixels of edges each has, (K) int32, from the most on.\n\n"
                      "Example:\n"
                      ">>> image = np.zeros((64, 64, 1), np.uint8)\n"
                      ">>> image = fn.draw_circles(image, centers=[30, 34], radius=16, thickness=0, color=[200])\n"
                      ">>> circles, pixels = fn.hough_circles(image, threshold=10)\n"
                      ">>> bool(np.abs(circles - [[30, 34, 16]]).max() < 1)\n"
                      "True")
        .input_names({"image"})
        .outputs(2)
        .arg("accumulator_scale", &Op::accumulator_scale,
             "Pixels of the image along one place for votes: larger ones find circles that are less round, with "
             "coarser centers.",
             within(1, 64))
        .arg("min_distance", &Op::min_distance,
             "The least distance between two centers, in pixels: the circle with fewer pixels is dropped.", at_least(0))
        .arg("edge_threshold", &Op::edge_threshold,
             "The gradient at which an edge begins; it goes on down to half of it: high and low of canny.", above(0))
        .arg("threshold", &Op::threshold, "A center has more votes than this, and its circle more pixels of edges.",
             at_least(0))
        .arg("min_radius", &Op::min_radius, "The least radius, in pixels.", at_least(0))
        .arg("max_radius", &Op::max_radius, "The greatest radius; 0: the longer side of the image.", at_least(0))
        .arg("max_circles", &Op::max_circles, "Keep so many circles, those with the most pixels; 0: all.", at_least(0))
        .batch_wide()
        .host_only("pixels vote for places anywhere")
        .oracle("opencv");
  }
  void ready() override {
    if (max_radius > 0 && max_radius < min_radius)
      bad_argument("max_radius is {}, less than min_radius, {}", max_radius, min_radius);
  }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void check(std::span<const ValueType> in) override { check_bytes(in[0]); }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    out[0] = {DType::float32, 2, {}};
    out[1] = {DType::int32, 1, {}};
  }
  std::vector<Shape> unknown_shapes() const override { return {{-1, 3}, {-1}}; }
  std::vector<FoundArray> find(const View& image, int) const override {
    const auto [height, width] = plane_extents(image);
    const auto longer = static_cast<int>(std::max(height, width)), both = static_cast<int>(height + width);
    const CircleRule rule{accumulator_scale,
                          min_distance,
                          edge_threshold,
                          threshold,
                          min_radius,
                          max_radius > 0 ? std::min(max_radius, both) : longer,  // no edge is farther away
                          max_circles > 0 ? max_circles : INT64_MAX};
    std::vector<float> circles;
    std::vector<int32_t> pixels;
    for (const VotedCircle& c : vote_for_circles(image.as<const uint8_t>(), height, width, rule))
      circles.insert(circles.end(), {c.x, c.y, c.radius}), pixels.push_back(c.pixels);
    const auto count = static_cast<int64_t>(pixels.size());
    return {found_array(circles, {count, 3}), found_array(pixels, {count})};
  }
};
PENSTOCK_OPERATOR(HoughCircles);

}  // namespace penstock
