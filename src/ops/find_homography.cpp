// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/robust_homography.h"

namespace penstock {

struct FindHomography : WholeOperator {
  std::string method = "least_squares";
  float threshold = 3.0f, confidence = 0.995f;
  int max_iterations = 2000;
  int64_t choice_seed = 0;
  bool return_inliers = false;

  static Schema<FindHomography> schema() {
    using Op = FindHomography;
    return Schema<Op>(
               "find_homography",
               "Finds the perspective that maps points nearest to others, as the matrix of "
               "warp_perspective.\n\nInputs: "
               "float32 points, (N, 2), x and y, of a source and of a target; at least 4, of which no 3 of 4 are on a "
               "line. Output: a float32 matrix (3, 3) whose last number is 1, with the least sum of squared distances "
               "from the target, as cv2.findHomography with method 0 finds it. With method=\"ransac\" or \"lmeds\" "
               "some "
               "points may belong to nothing: of many random choices of four pairs the best one says which these are, "
               "and the matrix is that of the others. Choices depend on choice_seed alone. With return_inliers a "
               "second "
               "output is 1 for each pair that counts, (N) uint8.\n\nExample:\n>>> source = np.float32([[0, 0], [10, "
               "0], [10, 10], [0, 10]])\n>>> "
               "fn.find_homography(source, source * 2 + 3).round(3).tolist()\n[[2.0, 0.0, 3.0], [0.0, 2.0, "
               "3.0], [0.0, 0.0, 1.0]]")
        .inputs(2)
        .input_names({"source", "target"})
        .arg("method", &Op::method,
             "\"least_squares\": all pairs count. \"ransac\": the choice with the most pairs within `threshold`. "
             "\"lmeds\": the one with the least median of squared distances, for less than half of wrong pairs.")
        .arg("threshold", &Op::threshold, "With ransac: how far from its target a pair that counts may be.", above(0))
        .arg("confidence", &Op::confidence, "How probable it shall be that a choice has no wrong pair.",
             within(0, 0.999999))
        .arg("max_iterations", &Op::max_iterations, "The most choices.", within(1, 10000000))
        .arg("choice_seed", &Op::choice_seed, "The seed of the choices, the same for all samples.")
        .arg("return_inliers", &Op::return_inliers, "Return which pairs count too.")
        .read_on_host({"source", "target"})
        .float64("the equations of many points are nearly dependent")
        .oracle("opencv");
  }
  int count_outputs() const override { return 1 + return_inliers; }
  void ready() override {
    if (method != "least_squares" && method != "ransac" && method != "lmeds")
      bad_argument("method must be least_squares, ransac or lmeds, got '{}'", method);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_point_type(in[0], "source"), check_point_type(in[1], "target");
    out[0] = {DType::float32, 2, {}};
    if (return_inliers) out[1] = {DType::uint8, 1, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    check_point_shape(in[0], "source"), check_point_shape(in[1], "target");
    if (in[0].known() && in[1].known() && in[0][0] != in[1][0])
      bad_argument("{} points of the source do not match {} of the target", in[0][0], in[1][0]);
    if (in[0].known() && in[0][0] < 4) bad_argument("a perspective needs at least 4 points, got {}", in[0][0]);
    out[0] = {3, 3};
    if (return_inliers) out[1] = {in[0].known() ? in[0][0] : in[1][0]};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const std::vector<PlanePoint> source = read_points(in[0], "source", s.index);
    const std::vector<PlanePoint> target = read_points(in[1], "target", s.index);
    std::vector<uint8_t> inlier(source.size(), 1);
    Perspective found;
    const RobustRule rule{method == "lmeds", static_cast<double>(threshold), static_cast<double>(confidence),
                          max_iterations, static_cast<uint64_t>(choice_seed)};
    const bool plain = method == "least_squares" || source.size() == 4;
    if (!(plain ? fit_perspective(source, target, found) : fit_robust_perspective(source, target, rule, found, inlier)))
      bad_argument("the points of sample {} determine no perspective: too many of them are on a line, or equal{}",
                   s.index, plain ? "" : ", or no choice of four fits others");
    give_numbers(out[0], std::vector<float>(found.begin(), found.end()), to);
    if (return_inliers) give_numbers(out[1], inlier, to);
  }
};
PENSTOCK_OPERATOR(FindHomography);

}  // namespace penstock
