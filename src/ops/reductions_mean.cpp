// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/machine/axes.h"
#include "ops/machine/operator.h"
#include "ops/machine/reduction.h"

namespace penstock {

struct Mean {
  Optional<std::vector<int64_t>> axes;
  Optional<std::string> axis_names;
  bool keep_dims = false;
  DType dtype = DType::none;

  static Schema<Mean> schema() {
    return Schema<Mean>("reductions.mean",
                        "Mean over axes, summed in float64 in a fixed order: the same on any number of threads.\n\n"
                        "Layouts: any; the letters of the axes go with them. Types: all. An empty mean is NaN.")
        .arg("axes", &Mean::axes, "Axes to reduce, negative ones from the end; all if not given, none for [].")
        .arg("axis_names", &Mean::axis_names, "The axes by their letters in the layout instead.")
        .arg("keep_dims", &Mean::keep_dims, "Keep the axes with extent 1.")
        .arg("dtype", &Mean::dtype, "Type of the result; default: float32, float64 for float64.")
        .oracle("numpy");
  }
  void ready() {
    if (axes.given() && axis_names.given()) bad_argument("axes and axis_names exclude each other");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const {
    out[0] = in[0];
    out[0].dtype = dtype != DType::none ? dtype : in[0].dtype == DType::float64 ? DType::float64 : DType::float32;
    if (keep_dims || in[0].ndim < 0) {
      if (in[0].ndim < 0) out[0].layout = {};
      return;
    }
    const std::vector<int> over = reduced_axes(in[0]);
    std::string letters;
    for (int d = 0; d < in[0].layout.size(); ++d)
      if (std::find(over.begin(), over.end(), d) == over.end()) letters += in[0].layout[d];
    out[0].ndim = in[0].ndim - static_cast<int>(over.size());
    out[0].layout = letters;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const {
    ValueType t = types[0];
    t.ndim = in[0].size();
    const std::vector<int> over = reduced_axes(t);
    out[0] = {};
    for (int d = 0; d < in[0].size(); ++d) {
      if (std::find(over.begin(), over.end(), d) == over.end()) out[0].push_back(in[0][d]);
      else if (keep_dims) out[0].push_back(1);
    }
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const {
    to.mean(in[0], ReductionPlan(in[0].shape, reduced_axes({in[0].dtype, in[0].shape.size(), in[0].layout})), out[0]);
  }

 private:
  std::vector<int> reduced_axes(const ValueType& in) const {
    return axis_names.given() ? axes_by_name(*axis_names, in.layout)
           : axes.given()     ? axes_by_number(*axes, in.ndim)
                              : all_axes(in.ndim);
  }
};
PENSTOCK_OPERATOR(Mean);

}  // namespace penstock
