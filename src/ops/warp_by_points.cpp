// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/shared/control_points.h"
#include "families/gather/computed_field.h"
#include "ops/shared/displacement_field.h"
#include "ops/shared/distortion.h"
#include "ops/shared/linear_system.h"

namespace penstock {

struct WarpByPoints : Distortion {
  PerSample<std::vector<float>> points, targets;
  std::string between = "thin_plate_spline", pixel_origin = "corner";
  bool normalized = false;

  static Schema<WarpByPoints> schema() {
    using Op = WarpByPoints;
    return Schema<Op>(
               "warp_by_points",
               "Warps images by points: the output at points[i] is the input at targets[i].\n\nBetween the points, "
               "\"thin_plate_spline\" bends as little as possible (Bookstein, \"Principal warps\", 1989); it needs "
               "three points that are not on a line. \"inverse_distance\" reads at the mean of the targets, weighted "
               "by the inverse squares of the distances to the points: around each point the image is "
               "enlarged, and points that stay do not leave the image as it is. Boxes, points and masks of a Sample "
               "follow. Sums of uint8, int8, bool, float16 and float32 are in float32, those of other types in "
               "float64; positions are in float64. Layouts: HW, HWC, CHW, each also with a leading F; the output "
               "keeps the layout. Types: all.\n\nExample:\n>>> image = np.zeros((48, 64, 3), np.uint8)\n>>> corners = "
               "[0, 0, 1, 0, 0, 1, 1, 1]\n>>> result = fn.warp_by_points(\n...     image, points=[*corners, 0.5, 0.5], "
               "targets=[*corners, 0.6, 0.4], normalized=True\n... )")
        .required("points", &Op::points, "The points of the output: x and y of the first one, of the second one, ...")
        .required("targets", &Op::targets, "What they show: points of the input, in the same order.")
        .arg("between", &Op::between, "\"thin_plate_spline\" or \"inverse_distance\".")
        .arg("normalized", &Op::normalized,
             "Positions and distances are fractions of the width and the height; else pixels.")
        .arg("pixel_origin", &Op::pixel_origin,
             "The position (0, 0): \"corner\" or \"center\" (as in OpenCV) of the first pixel.")
        .with(&distortion_arguments<Op>);
  }
  void ready() override {
    Distortion::ready();
    shift_ = pixel_shift(pixel_origin);
    if (between != "thin_plate_spline" && between != "inverse_distance")
      bad_argument("between must be \"thin_plate_spline\" or \"inverse_distance\", got \"{}\"", between);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const gather::Images images = gather::images_of(in[0].shape, in[0].layout);
    const Field f = field(s.index, images.height, images.width);
    if (out[0].volume() == 0) return;
    const auto host = [c = f.coef, points = f.table](float* dx, float* dy) {
      displace_by_points(c, points.data(), dx, dy);
    };
    const gather::Field made =
        gather::computed_field<PointsRule>(images.height, images.width, f.coef, f.table, host, to);
    gather::sample<gather::FieldRule>(in[0], out[0], {made.x, made.y, images.width}, sampling(), to);
  }
  // As displacement_field.h says.
  void displace(const SampleContext& s, int32_t height, int32_t width, float* dx, float* dy) const {
    const Field f = field(s.index, height, width);
    displace_by_points(f.coef, f.table.data(), dx, dy);
  }

 private:
  static constexpr size_t kMostPoints = 256;
  struct Field {
    PointsRule::Coef coef;
    std::vector<double> table;  // four numbers a point
  };
  Field field(int sample, int32_t height, int32_t width) const {
    const std::vector<float> from = points[sample], seen = targets[sample];
    const size_t n = from.size() / 2;
    if (from.size() % 2 != 0 || n < 1 || n > kMostPoints)
      bad_argument("points must have two numbers for each of 1 to {} points, got {} numbers", kMostPoints, from.size());
    if (seen.size() != from.size())
      bad_argument("targets has {} numbers, but points has {}: each point has its target", seen.size(), from.size());
    for (size_t k = 0; k < from.size(); ++k)
      if (!(std::fabs(from[k]) < 1e6f) || !(std::fabs(seen[k]) < 1e6f))
        bad_argument("points and targets must be less than 1e6 in magnitude");
    Field f{{height,
             width,
             static_cast<int32_t>(n),
             between == "thin_plate_spline",
             shift_,
             normalized ? 1.0 / std::max(width, 1) : 1.0,
             normalized ? 1.0 / std::max(height, 1) : 1.0,
             {},
             {}},
            std::vector<double>(4 * n)};
    for (size_t k = 0; k < 2 * n; ++k) f.table[k / 2 * 4 + k % 2] = from[k], f.table[k / 2 * 4 + 2 + k % 2] = seen[k];
    if (f.coef.spline) bend_through(f, n);
    return f;
  }
  // Replaces targets by the factors of a spline through their distances from the points.
  static void bend_through(Field& f, size_t n) {
    const size_t all = n + 3;
    std::vector<double> rows(all * (all + 2), 0.0);
    const auto row = [&](size_t k) { return rows.data() + k * (all + 2); };
    for (size_t k = 0; k < n; ++k) {
      const double* p = f.table.data() + 4 * k;
      for (size_t j = 0; j < n; ++j) {
        const double* q = f.table.data() + 4 * j;
        row(k)[j] = PointsRule::bend(PointsRule::square(p[0] - q[0], p[1] - q[1]));
      }
      const double plane[3] = {1, p[0], p[1]};
      for (size_t j = 0; j < 3; ++j) row(k)[n + j] = row(n + j)[k] = plane[j];
      for (size_t a = 0; a < 2; ++a) row(k)[all + a] = p[2 + a] - p[a];
    }
    if (!solve(rows, all, 2))
      bad_argument("a thin plate spline needs three points that are not on a line, all different");
    for (size_t k = 0; k < n; ++k)
      for (size_t a = 0; a < 2; ++a) f.table[4 * k + 2 + a] = row(k)[all + a];
    for (size_t j = 0; j < 3; ++j) f.coef.plane_x[j] = row(n + j)[all], f.coef.plane_y[j] = row(n + j)[all + 1];
  }
  double shift_ = 0;
};
PENSTOCK_OPERATOR(WarpByPoints);
PENSTOCK_DISPLACEMENTS(WarpByPoints);

}  // namespace penstock
