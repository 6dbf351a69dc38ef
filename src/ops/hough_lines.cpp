// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/line_arguments.h"

namespace penstock {

struct HoughLines : LineOperator {
  float min_theta = 0.0f, max_theta = 180.0f;
  int max_lines = 0;

  static Schema<HoughLines> schema() {
    using Op = HoughLines;
    return Schema<Op>("hough_lines",
                      "Finds lines in an image of edges by the Hough transform.\n\nInput: an image of one channel, "
                      "uint8 or bool, layouts HW, HWC and CHW, that is not 0 on edges, as canny gives it. Outputs: "
                      "lines, (K, 2) float32, the distance from the origin in pixels and the angle in radians, so that "
                      "rho = x cos(theta) + y sin(theta); and how many pixels voted for each, (K) int32, from the most "
                      "on. They are those of cv2.HoughLines.\n\n"
                      "Example:\n"
                      ">>> edges = np.zeros((20, 30), np.uint8)\n"
                      ">>> edges[7] = 255\n"
                      ">>> lines, votes = fn.hough_lines(edges, threshold=20)\n"
                      ">>> lines[:, 0].tolist(), votes.tolist()\n"
                      "([7.0], [30])")
        .input_names({"edges"})
        .outputs(2)
        .arg("rho", &Op::rho, kRho, above(0))
        .arg("theta", &Op::theta, kTheta, above(0))
        .arg("threshold", &Op::threshold, "Lines have more votes than this.", at_least(0))
        .arg("min_theta", &Op::min_theta, "The least angle, in degrees.", within(0, 180))
        .arg("max_theta", &Op::max_theta, "The greatest angle, in degrees.", within(0, 180))
        .arg("max_lines", &Op::max_lines, "Keep so many lines, those with the most votes; 0: all.", at_least(0))
        .batch_wide()
        .host_only("pixels vote for places anywhere")
        .oracle("opencv");
  }
  void ready() override {
    if (min_theta > max_theta) bad_argument("min_theta is {}, more than max_theta, {}", min_theta, max_theta);
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    out[0] = {DType::float32, 2, {}};
    out[1] = {DType::int32, 1, {}};
  }
  std::vector<Shape> unknown_shapes() const override { return {{-1, 2}, {-1}}; }
  std::vector<FoundArray> find(const View& edges, int) const override {
    const auto [height, width] = plane_extents(edges);
    const LineGrid grid = grid_of(height, width, static_cast<double>(min_theta), static_cast<double>(max_theta));
    std::vector<VotedLine> found = vote_for_lines(edges.as<const uint8_t>(), height, width, grid, threshold);
    if (max_lines > 0 && found.size() > static_cast<size_t>(max_lines)) found.resize(static_cast<size_t>(max_lines));
    std::vector<float> lines;
    std::vector<int32_t> votes;
    for (const VotedLine& line : found) lines.insert(lines.end(), {line.rho, line.theta}), votes.push_back(line.votes);
    const auto count = static_cast<int64_t>(votes.size());
    return {found_array(lines, {count, 2}), found_array(votes, {count})};
  }
};
PENSTOCK_OPERATOR(HoughLines);

}  // namespace penstock
