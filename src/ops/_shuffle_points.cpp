// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "families/team/team.h"
#include "ops/shared/tile_order.h"

namespace penstock {

struct ShufflePoints : WholeOperator, TileArguments {
  static Schema<ShufflePoints> schema() {
    return Schema<ShufflePoints>(
               "_shuffle_points",
               "Moves points with their tiles, as shuffle_tiles moves the pixels.\n\nInputs: points (N, n), float32, x "
               "and y first, in pixels; the displacements of shuffle_tiles, (2, height, width), of which the shape is "
               "read. Points outside the image stay.")
        .inputs(2)
        .input_names({"points", "displacements"})
        .with(&tile_arguments<ShufflePoints>)
        .read_on_host({"points", "displacements"})
        .hidden()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].dtype != DType::float32 && in[0].dtype != DType::none)
      bad_type("points must be float32, got {}", name_of(in[0].dtype));
    if (in[0].ndim == 0) bad_type("points must have at least one dimension");
    out[0] = in[0];
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int64_t numbers = in[0].shape[in[0].shape.size() - 1];
    if (numbers < 2) bad_argument("points of {} numbers have no x and y", numbers);
    if (in[1].shape.size() != 3) bad_argument("displacements must be (2, height, width), got {}", in[1].shape.text());
    const std::vector<TileMove> tiles = moves(s.index, in[1].shape[1], in[1].shape[2]);
    const auto* from = in[0].as<const float>();
    std::vector<float> made(from, from + in[0].volume());
    for (auto at = made.begin(); at < made.end(); at += numbers)
      for (const TileMove& m : tiles) {
        const double x = at[0] - static_cast<double>(m.left), y = at[1] - static_cast<double>(m.top);
        if (!(x >= 0 && y >= 0 && x < static_cast<double>(m.width) && y < static_cast<double>(m.height))) continue;
        at[0] = static_cast<float>(x + static_cast<double>(m.new_left));
        at[1] = static_cast<float>(y + static_cast<double>(m.new_top));
        break;
      }
    give_numbers(out[0], made, to);
  }
};
PENSTOCK_OPERATOR(ShufflePoints);

}  // namespace penstock
