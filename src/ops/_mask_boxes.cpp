// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/box_rows.h"

namespace penstock {

struct MaskBoxes : WholeOperator {
  std::string bbox_layout = "ltrb";
  bool bbox_normalized = false;
  float min_area = 0.0f, min_visibility = 0.0f;

  static Schema<MaskBoxes> schema() {
    using Op = MaskBoxes;
    return Schema<Op>("_mask_boxes",
                      "Finds the boxes around the masks of objects, and drops objects of which too little is "
                      "left.\n\nInputs, uint8 and int64: which rows (N, height) and which columns (N, width) of each "
                      "mask have a pixel that is not 0; how many pixels each mask has, and had, (N). Outputs: boxes "
                      "(N, 4), float32; and their rows of the input, int32. A mask without pixels is dropped.")
        .arg("bbox_layout", &Op::bbox_layout, "Meaning of the numbers of a box, as that of transform_boxes.")
        .arg("bbox_normalized", &Op::bbox_normalized, "True: in fractions of the image. False: in pixels.")
        .arg("min_area", &Op::min_area, "Drops objects of fewer pixels.", at_least(0))
        .arg("min_visibility", &Op::min_visibility,
             "Drops objects if less than this fraction of the pixels that they had is left.", within(0, 1))
        .inputs(4)
        .outputs(2)
        .input_names({"rows", "columns", "area", "area_before"})
        .read_on_host({"rows", "columns", "area", "area_before"})
        .hidden()
        .batch_wide()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    for (const size_t k : {0, 1, 2, 3}) {
      const DType wanted = k < 2 ? DType::uint8 : DType::int64;
      if (in[k].dtype != DType::none && in[k].dtype != wanted)
        bad_type("input {} must be {}, got {}", k, name_of(wanted), name_of(in[k].dtype));
    }
    out[0] = {DType::float32, 2, {}};
    out[1] = {DType::int32, 1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    const auto* values = static_cast<const std::span<const Batch>*>(s.batch_state);
    const int64_t stay = values ? static_cast<int64_t>(found(DenseInputs(*values, s.index).views).rows.size()) : -1;
    out[0] = {stay, 4}, out[1] = {stay};
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const Found f = found(in);
    give_numbers(out[0], rows_of(f.boxes, BoxLayout(bbox_layout)), to);
    give_numbers(out[1], f.rows, to);
  }

 private:
  struct Found {
    std::vector<BoxExtent> boxes;
    std::vector<int32_t> rows;  // of the input
  };
  Found found(std::span<const View> in) const {
    const int64_t n = in[0].shape[0];
    for (const View& v : in)
      if (v.shape.size() < 1 || v.shape[0] != n) bad_argument("the inputs have different numbers of masks");
    Found to;
    for (int64_t i = 0; i < n; ++i) {
      const auto left = static_cast<double>(in[2].as<const int64_t>()[i]);
      const auto before = static_cast<double>(in[3].as<const int64_t>()[i]);
      if (!(left > 0) || left < static_cast<double>(min_area) || left < static_cast<double>(min_visibility) * before)
        continue;
      BoxExtent b;
      for (size_t a = 0; a < 2; ++a) {  // x is along columns
        const View& along = in[1 - a];
        const int64_t extent = along.shape[1];
        const uint8_t* const filled = along.as<const uint8_t>() + i * extent;
        const double unit = bbox_normalized ? static_cast<double>(extent) : 1;
        const auto first = std::find_if(filled, filled + extent, [](uint8_t v) { return v != 0; });
        int64_t end = extent;
        while (end > 0 && filled[end - 1] == 0) --end;
        b.low[a] = static_cast<double>(first - filled) / unit, b.high[a] = static_cast<double>(end) / unit;
      }
      to.boxes.push_back(b), to.rows.push_back(static_cast<int32_t>(i));
    }
    return to;
  }
};
PENSTOCK_OPERATOR(MaskBoxes);

}  // namespace penstock
