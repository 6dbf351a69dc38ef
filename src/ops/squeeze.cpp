// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/shared/axes.h"
#include "operator/operator.h"

namespace penstock {

struct Squeeze : WholeOperator {
  PerSample<std::vector<int64_t>> axes;
  Optional<std::string> axis_names;

  static Schema<Squeeze> schema() {
    return Schema<Squeeze>("squeeze",
                           "Removes axes of extent 1.\n\nLayouts: any; the letters of the axes are removed. Types: "
                           "all.\n\n"
                           "Example:\n"
                           ">>> fn.squeeze(np.zeros((48, 64, 1), np.uint8), axes=[2]).shape\n"
                           "(48, 64)")
        .arg("axes", &Squeeze::axes, "The axes; negative numbers count from the end.")
        .arg("axis_names", &Squeeze::axis_names, "The axes by their letters in the layout, instead of by number.")
        .in_place()
        .takes_bfloat16()
        .oracle("numpy");
  }
  void ready() override {
    if (axes.given() == axis_names.given()) bad_argument("exactly one of axes and axis_names must be given");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = {in[0].dtype, -1, {}};
    if (axes.batch() && axes.batch()->size() > 0 && in[0].ndim >= 0)
      out[0].ndim = in[0].ndim - static_cast<int>(axes.batch()->shape(0).volume());
    if (axes.batch() || in[0].ndim < 0) return;
    const std::vector<int> drop = dropped(0, in[0].ndim, in[0].layout);
    out[0].ndim = in[0].ndim - static_cast<int>(drop.size());
    std::string letters;
    for (int d = 0; d < in[0].layout.size(); ++d)
      if (std::find(drop.begin(), drop.end(), d) == drop.end()) letters += in[0].layout[d];
    out[0].layout = letters;
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    const std::vector<int> drop = dropped(s.index, in[0].size(), types[0].layout);
    Shape shape;
    for (int d = 0; d < in[0].size(); ++d) {
      if (std::find(drop.begin(), drop.end(), d) == drop.end()) shape.push_back(in[0][d]);
      else if (in[0][d] > 1) bad_argument("axis {} of the shape {} has more than one element", d, in[0].text());
    }
    if (in[0].known() && shape.volume() != in[0].volume())
      bad_argument("an empty axis of the shape {} cannot be removed", in[0].text());
    out[0] = shape;
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    if (in[0].data != out[0].data) to.copy(reshaped(in[0], out[0].shape), out[0]);  // else it has the memory already
  }

 private:
  std::vector<int> dropped(int sample, int ndim, const Layout& layout) const {
    return axis_names.given() ? axes_by_name(*axis_names, layout) : axes_by_number(axes[sample], ndim);
  }
};
PENSTOCK_OPERATOR(Squeeze);

}  // namespace penstock
