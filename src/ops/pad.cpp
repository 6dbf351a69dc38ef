// SPDX-License-Identifier: Apache-2.0
#include "operator/any_number.h"
#include "ops/shared/axes.h"
#include "operator/operator.h"

namespace penstock {

struct Pad : WholeOperator {
  PerSample<float> fill_value = 0.0f;
  PerSample<std::vector<int64_t>> axes;
  Optional<std::string> axis_names;
  PerSample<std::vector<int64_t>> shape;
  PerSample<std::vector<int64_t>> align;

  static Schema<Pad> schema() {
    return Schema<Pad>("pad",
                       "Pads samples at the end of axes with a constant.\n\n"
                       "The new extent is the largest one of the batch, or a given one. The operator never crops. "
                       "Layouts: any; the output keeps it. Types: all.\n\n"
                       "Example:\n"
                       ">>> fn.pad(np.zeros((48, 50, 3), np.uint8), axes=[1], shape=[64]).shape\n"
                       "(48, 64, 3)")
        .arg("fill_value", &Pad::fill_value, "The value of the padding; rounded and saturated.", any_number)
        .arg("axes", &Pad::axes, "The axes; default: all. Negative numbers count from the end.")
        .arg("axis_names", &Pad::axis_names, "The axes by their letters in the layout, instead of by number.")
        .arg("shape", &Pad::shape,
             "Minimum extents, one value for all axes or one per axis; -1: the largest extent "
             "of the batch.")
        .arg("align", &Pad::align,
             "Extents are rounded up to multiples of this: one value for all axes or one per "
             "axis.")
        .batch_wide()
        .in_place()
        .takes_bfloat16()
        .oracle("dali");
  }
  void ready() override {
    if (axes.given() && axis_names.given()) bad_argument("axes and axis_names are mutually exclusive");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    Shape unknown = in[0];  // the extent of an axis that follows the batch is unknown before the batch
    for (const auto& [d, wanted, multiple] : wishes(s.index, in[0].size(), types[0].layout))
      unknown[d] = wanted > 0 && in[0][d] >= 0 ? rounded(std::max(wanted, in[0][d]), multiple) : -1;
    out[0] = unknown;
  }
  void batch_shapes(std::span<const Batch> in, std::span<const ValueType> types, std::span<Batch> out) const override {
    Shape largest = Shape::filled(in[0].ndim(), 0);
    for (int i = 0; i < in[0].size(); ++i)
      for (int d = 0; d < largest.size(); ++d) largest[d] = std::max(largest[d], in[0].shape(i)[d]);
    for (int i = 0; i < in[0].size(); ++i) {
      Shape& s = out[0].sample(i).shape;
      for (const auto& [d, wanted, multiple] : wishes(i, largest.size(), types[0].layout))
        if (wanted <= 0) s[d] = rounded(largest[d], multiple);
    }
  }
  PointMap point_map(const SampleContext&, const Shape&, const Layout& layout) const override {
    return unmoved_points(layout);
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    if (in[0].data == out[0].data && in[0].volume() > 0) return;  // nothing to add: it has the memory already
    const SampleNumbers value{{fill_value[s.index]}, {}};
    View part = out[0];
    // Slabs beyond the data, one for each padded dimension; together they cover all that is not data.
    for (int d = 0; d < in[0].shape.size(); ++d) {
      View slab = part;
      slab.shape[d] = part.shape[d] - in[0].shape[d];
      slab.data = part.as<char>() + in[0].shape[d] * part.strides[d] * static_cast<int64_t>(size_of(part.dtype));
      if (slab.shape[d] > 0) to.fill(slab, value);
      part.shape[d] = in[0].shape[d];
    }
    to.copy(in[0], part);
  }

 private:
  struct Wish {
    int dim;
    int64_t wanted, multiple;
  };
  static int64_t rounded(int64_t extent, int64_t multiple) {
    const int64_t rest = extent % multiple;
    if (rest == 0) return extent;
    if (__builtin_add_overflow(extent, multiple - rest, &extent)) bad_argument("align {} is too large", multiple);
    return extent;
  }
  std::vector<Wish> wishes(int sample, int ndim, const Layout& layout) const {
    const std::vector<int> dims = axis_names.given() ? axes_by_name(*axis_names, layout)
                                  : axes.given()     ? axes_by_number(axes[sample], ndim)
                                                     : std::vector<int>();
    const std::vector<int> at = dims.empty() ? all_axes(ndim) : dims;
    const std::vector<int64_t> extents = shape.given() ? shape[sample] : std::vector<int64_t>{-1};
    const std::vector<int64_t> multiples = align.given() ? align[sample] : std::vector<int64_t>{1};
    std::vector<Wish> out;
    for (size_t i = 0; i < at.size(); ++i) {
      const int64_t multiple = entry_of(multiples, i, at.size(), "align");
      if (multiple <= 0) bad_argument("align must be greater than 0, got {}", multiple);
      out.push_back({at[i], entry_of(extents, i, at.size(), "shape"), multiple});
    }
    return out;
  }
};
PENSTOCK_OPERATOR(Pad);

}  // namespace penstock
