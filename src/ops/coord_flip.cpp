// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "ops/shared/axis_rule.h"

namespace penstock {

struct CoordFlipRule {
  PENSTOCK_PIXEL(
      struct Coef {
        float factor[4];  // the fourth is not read: compilers take four turns of a loop at once
        float shift[4];
        bool relative[4];
        float refused;
      };
      template <class Row> PENSTOCK_HD static auto number(const Row& in, int64_t j, const Coef& c) {
        using V = decltype(in[0]);  // float32 gives the same: a sum of two float32 numbers, rounded once
        if (c.relative[j] && !(in[j] >= -1 && in[j] <= 2))
          return static_cast<V>(c.refused);  // on a GPU; the host raises an error
        return c.shift[j] + c.factor[j] * in[j];
      });
};

struct CoordFlip : WholeOperator {
  PerSample<int> flip_x = 1, flip_y = 0, flip_z = 0;
  PerSample<float> center_x = 0.5f, center_y = 0.5f, center_z = 0.5f;
  std::string layout;

  static Schema<CoordFlip> schema() {
    using Op = CoordFlip;
    return Schema<Op>("coord_flip",
                      "Mirrors points about a center: a coordinate x becomes 2 * center - x.\n\nInput: float32 points "
                      "of shape (N, 1 to 3). Output: the same shape. If no center is given, points are in fractions of "
                      "the image; a point more than one image away is an error, and NaN on a GPU. Layouts: any; the "
                      "output keeps it.\n\n"
                      "Example:\n"
                      ">>> fn.coord_flip(np.float32([[0.25, 0.5]]), flip_x=1).tolist()\n"
                      "[[0.75, 0.5]]")
        .arg("flip_x", &Op::flip_x, "Mirror the coordinate x if this is not 0.")
        .arg("flip_y", &Op::flip_y, "Mirror the coordinate y if this is not 0.")
        .arg("flip_z", &Op::flip_z, "Mirror the coordinate z if this is not 0.")
        .arg("center_x", &Op::center_x, "The center that x is mirrored about.")
        .arg("center_y", &Op::center_y, "The center that y is mirrored about.")
        .arg("center_z", &Op::center_z, "The center that z is mirrored about.")
        .arg("layout", &Op::layout, "The coordinate that each column holds; default: x, xy or xyz.")
        .oracle("dali");
  }
  void ready() override {
    for (size_t i = 0; i < layout.size(); ++i)
      if (std::string("xyz").find(layout[i]) == std::string::npos || layout.find(layout[i], i + 1) != std::string::npos)
        bad_argument("layout must name each of x, y and z at most once, got '{}'", layout);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].dtype != DType::none && in[0].dtype != DType::float32)
      bad_type("points must be float32, got {}", name_of(in[0].dtype));
    if (in[0].ndim >= 0 && in[0].ndim != 2) bad_type("points must be rows of numbers, got {} dimensions", in[0].ndim);
    out[0] = in[0];
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    const int64_t n = in[0][1];
    if (n > 3) bad_argument("points must have at most 3 coordinates, got {}", n);
    if (n >= 0 && !layout.empty() && static_cast<int64_t>(layout.size()) != n)
      bad_argument("layout '{}' does not fit points of {} coordinates", layout, n);
    out[0] = in[0];
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const bool flips[3] = {flip_x[s.index] != 0, flip_y[s.index] != 0, flip_z[s.index] != 0};
    const float centers[3] = {center_x[s.index], center_y[s.index], center_z[s.index]};
    const bool given[3] = {center_x.given(), center_y.given(), center_z.given()};
    CoordFlipRule::Coef c{{1, 1, 1}, {0, 0, 0}, {}, std::numeric_limits<float>::quiet_NaN()};
    const std::string names = layout.empty() ? "xyz" : layout;
    for (int64_t j = 0; j < in[0].shape[1]; ++j) {
      const int a = names[static_cast<size_t>(j)] - 'x';
      if (!flips[a]) continue;
      c.factor[j] = -1, c.shift[j] = 2 * centers[a], c.relative[j] = !given[a];
      if (&to != &host_work()) continue;
      const auto* value = in[0].as<const float>() + j;
      for (int64_t i = 0; i < in[0].shape[0] && c.relative[j]; ++i, value += in[0].shape[1])
        if (!(*value >= -1 && *value <= 2))
          bad_argument(
              "point {} of sample {} has {} = {}: without center_{}, points are in fractions of the image; for points "
              "in pixels give half of the extent",
              i, s.index, "xyz"[a], *value, "xyz"[a]);
    }
    if (in[0].volume() > 0) map_axis_by<CoordFlipRule>(in[0], out[0], 1, bytes_of(c), to);
  }

 private:
  static std::span<const std::byte> bytes_of(const CoordFlipRule::Coef& c) { return std::as_bytes(std::span(&c, 1)); }
};
PENSTOCK_OPERATOR(CoordFlip);

}  // namespace penstock
