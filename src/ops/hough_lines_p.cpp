// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/line_arguments.h"

namespace penstock {

struct HoughLinesP : LineOperator {
  int min_length = 0, max_gap = 0, max_segments = 0;
  int64_t choice_seed = -1;

  static Schema<HoughLinesP> schema() {
    using Op = HoughLinesP;
    return Schema<Op>("hough_lines_p",
                      "Finds segments of lines in an image of edges by the probabilistic Hough transform.\n\nInput: an "
                      "image of one channel, uint8 or bool, layouts HW, HWC and CHW, that is not 0 on edges, as canny "
                      "gives it. Output: the ends of segments, x, y, x and y, (K, 4) int32, in the order in which they "
                      "are found. Pixels vote in an order that depends on choice_seed alone; with -1 the segments are "
                      "those of cv2.HoughLinesP.\n\n"
                      "Example:\n"
                      ">>> edges = np.zeros((20, 30), np.uint8)\n"
                      ">>> edges[7, 3:25] = 255\n"
                      ">>> fn.hough_lines_p(edges, threshold=10, min_length=15).tolist()\n"
                      "[[3, 7, 24, 7]]")
        .input_names({"edges"})
        .arg("rho", &Op::rho, kRho, above(0))
        .arg("theta", &Op::theta, kTheta, above(0))
        .arg("threshold", &Op::threshold, "A line is followed when it has so many votes.", at_least(1))
        .arg("min_length", &Op::min_length, "The least extent of a segment along x or y, in pixels.", at_least(0))
        .arg("max_gap", &Op::max_gap, "How many pixels in a row may be missing within a segment.", at_least(0))
        .arg("max_segments", &Op::max_segments, "Stop at so many segments; 0: find all.", at_least(0))
        .arg("choice_seed", &Op::choice_seed, "The seed of the order, the same for all samples.")
        .batch_wide()
        .host_only("each segment takes the votes of its pixels away from the next ones")
        .oracle("opencv");
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override { out[0] = {DType::int32, 2, {}}; }
  std::vector<Shape> unknown_shapes() const override { return {{-1, 4}}; }
  std::vector<FoundArray> find(const View& edges, int) const override {
    const auto [height, width] = plane_extents(edges);
    const LineGrid grid = grid_of(height, width, 0, 180);
    const int64_t most = max_segments > 0 ? max_segments : INT64_MAX;
    const VotedSegmentRule rule{threshold, min_length, max_gap, most, static_cast<uint64_t>(choice_seed)};
    const auto segments = vote_for_segments(edges.as<const uint8_t>(), height, width, grid, rule);
    return {found_array(segments, {static_cast<int64_t>(segments.size()), 4})};
  }
};
PENSTOCK_OPERATOR(HoughLinesP);

}  // namespace penstock
