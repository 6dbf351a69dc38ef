// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "operator/any_number.h"
#include "ops/shared/axes.h"
#include "operator/operator.h"

namespace penstock {

struct Erase : WholeOperator {
  PerSample<std::vector<float>> anchor, shape;
  Optional<std::vector<int64_t>> axes;
  Optional<std::string> axis_names;
  bool centered_anchor = false;
  PerSample<std::vector<float>> fill_value = std::vector<float>{0.0f};
  Optional<bool> normalized{false}, normalized_anchor{false}, normalized_shape{false};

  static Schema<Erase> schema() {
    return Schema<Erase>("erase",
                         "Overwrites rectangular regions with a constant.\n\nA region extends from trunc(anchor) to "
                         "trunc(anchor + shape), cut to the sample. Layouts: any; the output keeps it. Types: all.\n\n"
                         "Example:\n"
                         ">>> image = penstock.tensor(np.ones((48, 64, 3), np.uint8), layout=\"HWC\")\n"
                         ">>> result = fn.erase(image, anchor=[4, 8], shape=[16, 16], axis_names=\"HW\")")
        .arg("anchor", &Erase::anchor,
             "Where the regions start: the values of the first region for all axes, then those of the next one; "
             "default: 0.")
        .arg("shape", &Erase::shape, "Extents of the regions, in the same order.")
        .arg("axes", &Erase::axes,
             "The axes that anchor and shape refer to; along all others the region covers everything. Default: all "
             "axes except channels, in the order of the layout.")
        .arg("axis_names", &Erase::axis_names, "The axes by their letters in the layout; takes precedence over axes.")
        .arg("centered_anchor", &Erase::centered_anchor, "Anchors are the centers of the regions.")
        .arg("fill_value", &Erase::fill_value, "One value, or one for each channel.", any_number)
        .arg("normalized", &Erase::normalized, "Anchors and shapes are fractions of the extents.")
        .arg("normalized_anchor", &Erase::normalized_anchor, "Anchors are fractions of the extents.")
        .arg("normalized_shape", &Erase::normalized_shape, "Shapes are fractions of the extents.")
        .gpu_arguments({"fill_value"})
        .keeps_positions()
        .takes_bfloat16()
        .oracle("dali");
  }
  void ready() override {
    if (normalized.given() && (normalized_anchor.given() || normalized_shape.given()))
      bad_argument("normalized cannot be combined with normalized_anchor or normalized_shape");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (in[0].ndim >= 0) dims(in[0]);
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& work) const override {
    const View& to = out[0];
    const std::vector<int> at = dims({to.dtype, to.shape.size(), in[0].layout});
    const SampleNumbers fill = numbers_of(fill_value, s.index);
    const std::vector<float> extents = shape[s.index], begins = anchor[s.index];
    const size_t k = at.size();
    if (k == 0 || extents.size() % k != 0)
      bad_argument("shape has {} values, not a multiple of the {} axes", extents.size(), k);
    if (!begins.empty() && begins.size() != extents.size())
      bad_argument("anchor has {} values, but shape has {}", begins.size(), extents.size());
    const int channel = in[0].layout.find('C');
    if (fill.size() != 1 && (channel < 0 || fill.size() != to.shape[channel]))
      bad_argument("fill_value has {} values, which do not match the channels of shape {}, layout '{}'", fill.size(),
                   to.shape.text(), in[0].layout.str());
    work.copy(in[0], to);
    work.then();
    const bool scale_anchor = *normalized || *normalized_anchor, scale_shape = *normalized || *normalized_shape;
    for (size_t region = 0; region + k <= extents.size(); region += k) {
      View box = to;
      SampleNumbers values = fill;
      int64_t offset = 0;
      for (size_t i = 0; i < k; ++i) {
        const int d = at[i];
        const auto n = static_cast<float>(to.shape[d]);
        const float size = extents[region + i] * (scale_shape ? n : 1.0f);
        float low = begins.empty() ? 0.0f : begins[region + i] * (scale_anchor ? n : 1.0f);
        if (centered_anchor) low -= size / 2;
        const int64_t a = bound(low, to.shape[d]), b = std::max(a, bound(low + size, to.shape[d]));
        box.shape[d] = b - a;
        offset += a * box.strides[d];
        if (d == channel && values.size() > 1) values = fill.part(a, b);
      }
      box.data = to.as<char>() + offset * static_cast<int64_t>(size_of(to.dtype));
      if (box.volume() > 0) work.fill(box, values, values.size() > 1 ? channel : -1);
    }
  }

 private:
  static int64_t bound(float v, int64_t n) {
    return v > 0 ? static_cast<int64_t>(std::trunc(std::min(static_cast<double>(v), static_cast<double>(n)))) : 0;
  }
  std::vector<int> dims(const ValueType& in) const {
    if (axis_names.given()) return axes_by_name(*axis_names, in.layout);
    if (axes.given()) return axes_by_number(*axes, in.ndim);
    if (in.layout.empty()) bad_type("a sample without a layout needs the argument axes");
    std::vector<int> all;
    for (int d = 0; d < in.layout.size(); ++d)
      if (in.layout[d] != 'C') all.push_back(d);
    return all;
  }
};
PENSTOCK_OPERATOR(Erase);

}  // namespace penstock
