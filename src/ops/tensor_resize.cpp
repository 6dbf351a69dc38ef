// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/axes.h"
#include "ops/shared/interpolation.h"
#include "ops/shared/resize_size.h"

namespace penstock {

struct TensorResize : ResampleOperator, Interpolation {
  PerSample<std::vector<float>> sizes, scales;
  PerSample<std::vector<float>> alignment = std::vector<float>{0.5f};
  Optional<std::vector<int64_t>> axes;
  Optional<std::string> axis_names;
  std::string mode = "default", size_rounding = "round";
  std::vector<float> max_size;
  PerSample<std::vector<float>> roi_start, roi_end;
  bool roi_relative = false, subpixel_scale = true;
  DType dtype = DType::none;

  static Schema<TensorResize> schema() {
    return Schema<TensorResize>(
               "tensor_resize",
               "Resizes tensors along any of their axes.\n\nThe filters are those of `resize`; at most three axes can "
               "be resized in a call. Layouts: any; the output keeps it. Types: all.\n\n"
               "Example:\n"
               ">>> fn.tensor_resize(np.zeros((8, 6, 5, 2), np.float32), scales=[0.5, 2], axes=[0, 2]).shape\n"
               "(4, 6, 10, 2)")
        .with(&interpolation_arguments<TensorResize>)
        .arg("sizes", &TensorResize::sizes,
             "Extents of the result, one value for all axes or one per axis. 0: no size for this axis, see mode. "
             "Negative: mirrored.")
        .arg("scales", &TensorResize::scales, "Extents of the result as multiples of the input's, instead of sizes.")
        .arg("axes", &TensorResize::axes, "The axes; default: all. Negative numbers count from the end.")
        .arg("axis_names", &TensorResize::axis_names, "The axes by their letters in the layout, instead of by number.")
        .arg("size_rounding", &TensorResize::size_rounding,
             "How an extent that scales or the mode give becomes an integer: round (half away from zero), truncate or "
             "ceil.")
        .arg("alignment", &TensorResize::alignment,
             "The point of the region that keeps its place if an extent is rounded: 0 its start, 1 its end; one value "
             "for all axes or one per axis.")
        .arg(
            "mode", &TensorResize::mode,
            "What the sizes mean. default: an axis without a size is scaled by the geometric mean of the other scales. "
            "stretch: an axis without a size keeps its extent. not_larger: one scale for all axes; none is larger "
            "than its size. not_smaller: one scale for all axes; none is smaller than its size.")
        .arg("max_size", &TensorResize::max_size, "Upper limit of the result, one value or one per axis.")
        .arg("roi_start", &TensorResize::roi_start,
             "Start of the region that is resized, per axis; a start after the end mirrors the result.")
        .arg("roi_end", &TensorResize::roi_end, "End of the region that is resized.")
        .arg("roi_relative", &TensorResize::roi_relative, "The region is given as fractions of the extents.")
        .arg("subpixel_scale", &TensorResize::subpixel_scale,
             "If an extent is rounded, scale the region by the same factor, so that the requested scale stays exact. "
             "Otherwise the region fills the rounded extent.")
        .arg("dtype", &TensorResize::dtype, "Type of the result; default: the input's.")
        .float64("the weights and positions of taps, as in `resize`")
        .oracle("dali");
  }
  void ready() override {
    if (sizes.given() == scales.given()) bad_argument("give either sizes or scales");
    if (axes.given() && axis_names.given()) bad_argument("axes and axis_names are mutually exclusive");
    if (roi_start.given() != roi_end.given()) bad_argument("roi_start and roi_end must be given together");
    const ResizeMode m = resize_mode(mode);
    if (scales.given() && (m == ResizeMode::not_larger || m == ResizeMode::not_smaller))
      bad_argument("mode='{}' needs sizes instead of scales", mode);
    rounding_ = resize_rounding(size_rounding);
  }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  void check(std::span<const ValueType> in) override {
    if (in[0].ndim == 0) bad_type("expected at least one dimension, got a scalar");
    if (in[0].ndim > 0) dims_of(in[0].ndim, in[0].layout);
  }
  bool maps_channels() const override { return true; }
  int64_t out_extent(const SampleContext&, char, int64_t) const override { return -1; }

  void map(const SampleContext& s, Placement& p) const override {
    std::vector<int> dims = dims_of(p.ndim(), p.layout());
    Wishes all = wishes(s, p, dims);
    ResizeRequest& q = all.request;
    ResizedAxis result[kMaxResized];
    resized_axes(q, all.extents, result);
    AxisFilter filters[kMaxResized];
    for (int i = 0; i < q.axes; ++i)
      filters[i] = filter_of(axis_window(s.index, result[i].lo, result[i].hi, result[i].out));
    join_areas({filters, static_cast<size_t>(q.axes)});
    for (int i = 0; i < q.axes; ++i) p.filter(all.dims[i], filters[i]);
  }

 private:
  struct Wishes {
    ResizeRequest request;
    int dims[kMaxResized];
    int64_t extents[kMaxResized];
  };
  std::vector<int> dims_of(int ndim, const Layout& layout) const {
    return axis_names.given() ? axes_by_name(*axis_names, layout)
           : axes.given()     ? axes_by_number(*axes, ndim)
                              : all_axes(ndim);
  }
  // Value k of a list that has one value for all axes or one for each.
  static float value(const char* name, std::span<const float> list, size_t k, size_t n) {
    if (list.size() != 1 && list.size() != n) bad_argument("{} must have 1 or {} values, got {}", name, n, list.size());
    return list[list.size() == 1 ? 0 : k];
  }
  // What is asked of the axes that change.
  Wishes wishes(const SampleContext& s, const Placement& p, const std::vector<int>& dims) const {
    Wishes made;
    ResizeRequest& q = made.request;
    q.axes = 0, q.mode = resize_mode(mode), q.subpixel = subpixel_scale, q.region = roi_start.given();
    q.relative = roi_relative, q.rounding = rounding_;
    for (size_t k = 0; k < dims.size(); ++k) {
      const int64_t extent = p.extent(dims[k]);
      double lo = 0, hi = static_cast<double>(extent);
      if (q.region) {
        lo = value("roi_start", roi_start.values(s.index), k, dims.size());
        hi = value("roi_end", roi_end.values(s.index), k, dims.size());
      }
      const double wanted = sizes.given()
                                ? double{value("sizes", sizes.values(s.index), k, dims.size())}
                                : value("scales", scales.values(s.index), k, dims.size()) * static_cast<double>(extent);
      if (!q.region && dims.size() > kMaxResized && wanted == static_cast<double>(extent)) continue;
      if (q.axes == kMaxResized)
        bad_argument("at most {} axes can be resized in a call, the others must keep their extents", kMaxResized);
      q.lo[q.axes] = lo, q.hi[q.axes] = hi, q.wanted[q.axes] = wanted;
      q.limit[q.axes] = max_size.empty() ? 0 : value("max_size", max_size, k, dims.size());
      q.alignment[q.axes] = value("alignment", alignment.values(s.index), k, dims.size());
      made.extents[q.axes] = extent, made.dims[q.axes++] = dims[k];
    }
    return made;
  }
  ResizeRounding rounding_ = ResizeRounding::round;
};
PENSTOCK_OPERATOR(TensorResize);

}  // namespace penstock
