// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/homography.h"

namespace penstock {

struct FindHomography : WholeOperator {
  static Schema<FindHomography> schema() {
    return Schema<FindHomography>(
               "find_homography",
               "Finds the perspective that maps points nearest to others, as the matrix of "
               "warp_perspective.\n\nInputs: "
               "float32 points, (N, 2), x and y, of a source and of a target; at least 4, of which no 3 of 4 are on a "
               "line. Output: a float32 matrix (3, 3) whose last number is 1, with the least sum of squared distances "
               "from the target, as cv2.findHomography with method 0 finds it: points that belong to nothing else must "
               "be left out before.\n\nExample:\n>>> source = np.float32([[0, 0], [10, 0], [10, 10], [0, 10]])\n>>> "
               "fn.find_homography(source, source * 2 + 3).round(3).tolist()\n[[2.0, 0.0, 3.0], [0.0, 2.0, "
               "3.0], [0.0, 0.0, 1.0]]")
        .inputs(2)
        .input_names({"source", "target"})
        .read_on_host({"source", "target"})
        .float64("the equations of many points are nearly dependent")
        .oracle("opencv");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_point_type(in[0], "source"), check_point_type(in[1], "target");
    out[0] = {DType::float32, 2, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    check_point_shape(in[0], "source"), check_point_shape(in[1], "target");
    if (in[0].known() && in[1].known() && in[0][0] != in[1][0])
      bad_argument("{} points of the source do not match {} of the target", in[0][0], in[1][0]);
    if (in[0].known() && in[0][0] < 4) bad_argument("a perspective needs at least 4 points, got {}", in[0][0]);
    out[0] = {3, 3};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    Perspective found;
    if (!fit_perspective(read_points(in[0], "source", s.index), read_points(in[1], "target", s.index), found))
      bad_argument("the points of sample {} determine no perspective: too many of them are on a line, or equal",
                   s.index);
    give_numbers(out[0], std::vector<float>(found.begin(), found.end()), to);
  }
};
PENSTOCK_OPERATOR(FindHomography);

}  // namespace penstock
