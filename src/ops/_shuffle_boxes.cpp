// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/box_rows.h"
#include "ops/shared/tile_order.h"

namespace penstock {

struct ShuffleBoxes : WholeOperator, TileArguments {
  std::string bbox_layout = "ltrb";
  bool bbox_normalized = false;
  float min_area = 0.0f, min_visibility = 0.0f;

  static Schema<ShuffleBoxes> schema() {
    using Op = ShuffleBoxes;
    return Schema<Op>(
               "_shuffle_boxes",
               "Moves the parts of boxes with their tiles, as shuffle_tiles moves the pixels.\n\nInputs: float32 "
               "boxes (N, 4); the displacements of shuffle_tiles, (2, height, width), of which the shape is "
               "read. Outputs: the boxes around the connected parts of what each box had, parts that touch at a "
               "corner being one; and the rows of the input that they were, int32.")
        .arg("bbox_layout", &Op::bbox_layout, "Meaning of the numbers of a box, as that of transform_boxes.")
        .arg("bbox_normalized", &Op::bbox_normalized, "True: in fractions of the image. False: in pixels.")
        .arg("min_area", &Op::min_area, "Drops parts whose area, in pixels, is less.", at_least(0))
        .arg("min_visibility", &Op::min_visibility, "Drops parts that have less than this fraction of their box.",
             within(0, 1))
        .with(&tile_arguments<Op>)
        .inputs(2)
        .outputs(2)
        .input_names({"boxes", "displacements"})
        .read_on_host({"boxes", "displacements"})
        .hidden()
        .batch_wide()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    check_box_type(in[0]);
    out[0] = {DType::float32, 2, in[0].layout};
    out[1] = {DType::int32, 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    check_box_shape(in[0], 4);
    const auto* values = static_cast<const std::span<const Batch>*>(s.batch_state);
    int64_t made = -1;
    if (values) {
      const DenseInputs here(*values, s.index);
      made = static_cast<int64_t>(shuffled(here.views[0], here.views[1].shape, s.index).rows.size());
    }
    out[0] = {made, 4}, out[1] = {made};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const Shuffled made = shuffled(in[0], in[1].shape, s.index);
    give_numbers(out[0], rows_of(made.boxes, BoxLayout(bbox_layout)), to);
    give_numbers(out[1], made.rows, to);
  }

 private:
  struct Shuffled {
    std::vector<BoxExtent> boxes;
    std::vector<int32_t> rows;  // of the input
  };
  struct Part {
    BoxExtent around;
    double area;
  };
  Shuffled shuffled(const View& in, const Shape& field, int sample) const {
    const BoxLayout layout(bbox_layout);
    if (layout.dims() != 2) bad_argument("tiles move boxes of 4 numbers, got the layout '{}'", bbox_layout);
    if (field.size() != 3) bad_argument("displacements must be (2, height, width), got {}", field.text());
    const double extents[3] = {static_cast<double>(field[2]), static_cast<double>(field[1]), 1};
    const std::vector<TileMove> tiles = moves(sample, field[1], field[2]);
    const std::vector<BoxExtent> boxes = read_boxes(in, layout);
    Shuffled out;
    for (size_t i = 0; i < boxes.size(); ++i) {
      check_box(boxes[i], layout, bbox_normalized ? nullptr : extents, static_cast<int64_t>(i), sample);
      BoxExtent box = boxes[i];
      for (size_t a = 0; a < 2 && bbox_normalized; ++a) box.low[a] *= extents[a], box.high[a] *= extents[a];
      for (const Part& part : parts_of(box, tiles)) {
        if (part.area < static_cast<double>(min_area) ||
            part.area < static_cast<double>(min_visibility) * volume_of(box, 2))
          continue;
        BoxExtent& made = out.boxes.emplace_back(part.around);
        for (size_t a = 0; a < 2 && bbox_normalized; ++a) made.low[a] /= extents[a], made.high[a] /= extents[a];
        out.rows.push_back(static_cast<int32_t>(i));
      }
    }
    return out;
  }
  // What tiles show of a box, joined where it touches; the upper ones first.
  static std::vector<Part> parts_of(const BoxExtent& box, const std::vector<TileMove>& tiles) {
    std::vector<Part> pieces;
    std::vector<std::vector<BoxExtent>> members;
    for (const TileMove& m : tiles) {
      const double low[2] = {static_cast<double>(m.left), static_cast<double>(m.top)};
      const double size[2] = {static_cast<double>(m.width), static_cast<double>(m.height)};
      const double moved[2] = {static_cast<double>(m.new_left - m.left), static_cast<double>(m.new_top - m.top)};
      BoxExtent seen;
      for (size_t a = 0; a < 2; ++a) {
        seen.low[a] = std::max(box.low[a], low[a]) + moved[a];
        seen.high[a] = std::min(box.high[a], low[a] + size[a]) + moved[a];
      }
      if (seen.high[0] > seen.low[0] && seen.high[1] > seen.low[1]) join(seen, pieces, members);
    }
    std::ranges::sort(pieces, {}, [](const Part& p) { return std::pair(p.around.low[1], p.around.low[0]); });
    return pieces;
  }
  // Adds a piece to those that it touches, which become one.
  static void join(const BoxExtent& seen, std::vector<Part>& parts, std::vector<std::vector<BoxExtent>>& members) {
    Part whole{seen, volume_of(seen, 2)};
    std::vector<BoxExtent> all{seen};
    for (size_t k = parts.size(); k-- > 0;) {
      const bool near = std::ranges::any_of(members[k], [&](const BoxExtent& b) {
        return b.low[0] <= seen.high[0] && seen.low[0] <= b.high[0] && b.low[1] <= seen.high[1] &&
               seen.low[1] <= b.high[1];
      });
      if (!near) continue;
      for (size_t a = 0; a < 2; ++a) {
        whole.around.low[a] = std::min(whole.around.low[a], parts[k].around.low[a]);
        whole.around.high[a] = std::max(whole.around.high[a], parts[k].around.high[a]);
      }
      whole.area += parts[k].area;
      all.insert(all.end(), members[k].begin(), members[k].end());
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(k));
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(k));
    }
    parts.push_back(whole), members.push_back(std::move(all));
  }
};
PENSTOCK_OPERATOR(ShuffleBoxes);

}  // namespace penstock
