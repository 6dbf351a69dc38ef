// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/shared/axes.h"
#include "operator/operator.h"

namespace penstock {

struct ExpandDims : WholeOperator {
  std::vector<int64_t> axes;
  std::string new_axis_names;

  static Schema<ExpandDims> schema() {
    return Schema<ExpandDims>("expand_dims",
                              "Inserts axes of extent 1.\n\nLayouts: any; without new_axis_names the output has no "
                              "layout. Types: all.\n\n"
                              "Example:\n"
                              ">>> fn.expand_dims(np.zeros((48, 64), np.uint8), axes=[0]).shape\n"
                              "(1, 48, 64)")
        .required("axes", &ExpandDims::axes,
                  "Positions of the new axes in the output; negative numbers count from the end; default: no new axes.")
        .arg("new_axis_names", &ExpandDims::new_axis_names, "Letters of the new axes, in the order of axes.")
        .in_place()
        .takes_bfloat16()
        .oracle("numpy");
  }
  void ready() override {
    if (!new_axis_names.empty() && new_axis_names.size() != axes.size())
      bad_argument("new_axis_names '{}' has {} letters for {} axes", new_axis_names, new_axis_names.size(),
                   axes.size());
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = {in[0].dtype, -1, {}};
    if (in[0].ndim < 0) return;
    out[0].ndim = in[0].ndim + static_cast<int>(axes.size());
    const std::vector<int> at = axes_by_number(axes, out[0].ndim);
    if (axes.empty()) out[0].layout = in[0].layout;
    if (new_axis_names.empty() || in[0].layout.size() != in[0].ndim) return;
    std::string letters;
    for (int d = 0, k = 0; d < out[0].ndim; ++d) {
      const auto it = std::find(at.begin(), at.end(), d);
      letters += it == at.end() ? in[0].layout[k++] : new_axis_names[it - at.begin()];
    }
    out[0].layout = letters;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    const int ndim = in[0].size() + static_cast<int>(axes.size());
    const std::vector<int> at = axes_by_number(axes, ndim);
    Shape shape;
    for (int d = 0, k = 0; d < ndim; ++d)
      shape.push_back(std::find(at.begin(), at.end(), d) == at.end() ? in[0][k++] : 1);
    out[0] = shape;
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    if (in[0].data != out[0].data) to.copy(reshaped(in[0], out[0].shape), out[0]);  // else it has the memory already
  }
};
PENSTOCK_OPERATOR(ExpandDims);

}  // namespace penstock
