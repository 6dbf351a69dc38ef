// SPDX-License-Identifier: Apache-2.0
// The axes that a reduction folds, and the shape of its result.
#pragma once
#include <algorithm>

#include "ops/shared/axes.h"
#include "operator/operator.h"
#include "numerics/reduction.h"

namespace penstock {

struct ReducedAxes : WholeOperator {
  Optional<std::vector<int64_t>> axes;
  Optional<std::string> axis_names;
  bool keep_dims = false;

  void ready() override {
    if (axes.given() && axis_names.given()) bad_argument("axes and axis_names are mutually exclusive");
  }
  ValueType reduced(const ValueType& in, DType dtype) const {
    ValueType out{dtype, in.ndim, in.ndim < 0 ? Layout() : in.layout};
    if (keep_dims || in.ndim < 0) return out;
    const std::vector<int> over = reduced_axes(in);
    std::string letters;
    for (int d = 0; d < in.layout.size(); ++d)
      if (!folds(over, d)) letters += in.layout[d];
    out.ndim = in.ndim - static_cast<int>(over.size());
    out.layout = letters;
    return out;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    ValueType t = types[0];
    t.ndim = in[0].size();
    const std::vector<int> over = reduced_axes(t);
    out[0] = {};
    for (int d = 0; d < in[0].size(); ++d) {
      if (!folds(over, d)) out[0].push_back(in[0][d]);
      else if (keep_dims) out[0].push_back(1);
    }
  }
  ReductionPlan plan(const View& in) const {
    return ReductionPlan(in.shape, reduced_axes({in.dtype, in.shape.size(), in.layout}));
  }
  template <class Op> static Schema<Op>&& arguments(Schema<Op>&& s) {
    return std::move(s)
        .arg("axes", &Op::axes, "Axes to reduce; negative numbers count from the end. Default: all; []: none.")
        .arg("axis_names", &Op::axis_names, "The axes by their letters in the layout, instead of by number.")
        .arg("keep_dims", &Op::keep_dims, "Keep the reduced axes with extent 1.");
  }

 private:
  static bool folds(const std::vector<int>& over, int d) {
    return std::find(over.begin(), over.end(), d) != over.end();
  }
  std::vector<int> reduced_axes(const ValueType& in) const {
    return axis_names.given() ? axes_by_name(*axis_names, in.layout)
           : axes.given()     ? axes_by_number(*axes, in.ndim)
                              : all_axes(in.ndim);
  }
};

}  // namespace penstock
