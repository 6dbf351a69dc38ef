// SPDX-License-Identifier: Apache-2.0
#include "operator/image_work.h"
#include "ops/shared/regions.h"

namespace penstock {

struct Label : WholeOperator {
  int connectivity = 8;
  PerSample<int> background = 0, min_size = 1;
  bool by_value = false, statistics = false;

  static Schema<Label> schema() {
    using Op = Label;
    return Schema<Op>("label",
                      "Numbers the connected regions of a mask.\n\nInput: a mask of one channel, layout HW, or HWC or "
                      "CHW; bool and integers. Output: int32 labels of the shape of the mask, 0 for the background and "
                      "1, 2, ... for regions, in the order of their first pixels, row by row. With statistics a second "
                      "output has a row for each region, (K, 5) int32: left, top, width, height and the number of "
                      "pixels, as cv2.connectedComponentsWithStats returns them, without the background.\n\nExample:\n"
                      ">>> fn.label(np.uint8([[1, 0, 1], [1, 0, 1]]), connectivity=4).tolist()\n"
                      "[[1, 0, 2], [1, 0, 2]]")
        .input_names({"mask"})
        .arg("connectivity", &Op::connectivity, "8: pixels that touch diagonally are connected. 4: they are not.")
        .arg("background", &Op::background, "The value of pixels that belong to no region.")
        .arg("by_value", &Op::by_value, "Only pixels of the same value are connected.")
        .arg("min_size", &Op::min_size, "Regions of fewer pixels become background.", at_least(0))
        .arg("statistics", &Op::statistics, "Return the boxes and areas of the regions too.")
        .batch_wide()
        .keeps_positions()
        .oracle("opencv");
  }
  int count_outputs() const override { return 1 + statistics; }
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void ready() override {
    if (connectivity != 4 && connectivity != 8) bad_argument("connectivity must be 4 or 8, got {}", connectivity);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (is_float(in[0].dtype)) bad_type("a mask must be bool or integers, got {}", name_of(in[0].dtype));
    out[0] = {DType::int32, in[0].ndim, check_image(in[0])};
    if (statistics) out[1] = {DType::int32, 2, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    out[0] = in[0];
    for (int d = 0; d < std::min(in[0].size(), types[0].layout.size()); ++d)
      if (const char axis = types[0].layout[d]; axis != 'H' && axis != 'W' && in[0][d] != 1 && in[0][d] >= 0)
        bad_argument("a mask has one channel and no frames, got the shape {}, layout '{}'", in[0].text(),
                     types[0].layout.str());
    if (in[0].known() && in[0].volume() > INT32_MAX) bad_argument("a mask of the shape {} is too large", in[0].text());
    if (statistics) out[1] = {measured(s) ? measured(s)[0] : -1, 5};
  }
  void measure(const SampleContext& s, std::span<const View> in, SampleWork& to, int64_t* numbers) const override {
    if (!statistics || in[0].volume() == 0) return;
    const RegionCoef c = coef(s.index, in[0]);
    if (to.at_once()) numbers[0] = label_regions(in[0], c, nullptr, nullptr);
    else number_there(in[0], c, numbers, to);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    if (in[0].volume() == 0) return;
    const RegionCoef c = coef(s.index, in[0]);
    void* const rows = statistics ? out[1].data : nullptr;
    if (to.at_once()) {
      label_regions(in[0], c, out[0].as<int32_t>(), static_cast<int32_t*>(rows));
      return;
    }
    void* const regions = statistics ? reinterpret_cast<void*>(measured(s)[1]) : number_there(in[0], c, nullptr, to);
    const int64_t count = statistics ? out[1].shape[0] : 0;
    run_team<RegionBoxes>({.in = {}, .out = {rows}, .units = count}, {true}, to);
    to.then();
    run_team<RegionLabels>(
        {.in = {}, .out = {regions, out[0].data, rows}, .units = c.height * c.width, .header = kHeader}, c, to);
    to.then();
    run_team<RegionBoxes>({.in = {}, .out = {rows}, .units = count}, {false}, to);
  }

 private:
  static constexpr const char* kHeader = "families/team/kernels/regions.h";

  RegionCoef coef(int sample, const View& mask) const {
    const ImageRule::Extents e = image_extents(mask.shape, check_image({mask.dtype, mask.shape.size(), mask.layout}));
    return {e.height, e.width, background[sample], min_size[sample], connectivity == 8, by_value, statistics, 0};
  }
  static void* number_there(const View& mask, const RegionCoef& c, int64_t* numbers, SampleWork& to) {
    const int64_t pixels = c.height * c.width;
    void* const memory = to.scratch(static_cast<size_t>(pixels) * 3 * sizeof(int32_t));
    const TeamCall each{.in = {mask.data}, .out = {memory}, .type = mask.dtype, .units = pixels, .header = kHeader};
    run_team<RegionSeeds>(each, c, to);
    to.then();
    run_team<RegionUnions>(each, c, to);
    to.then();
    run_team<RegionAreas>(each, c, to);
    to.then();
    run_team<RegionNumbers>({.in = {}, .out = {memory, numbers}, .header = kHeader}, c, to);
    to.then();
    return memory;
  }
};
PENSTOCK_OPERATOR(Label);

}  // namespace penstock
