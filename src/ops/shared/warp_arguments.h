// SPDX-License-Identifier: Apache-2.0
// Shared by rotate and warp_affine, and by their forms (sampled_warp.h): canvas, interpolation, border.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "operator/any_number.h"
#include "operator/image_layout.h"
#include "operator/image_work.h"
#include "operator/operator.h"

namespace penstock {

// The requested canvas along axis i of n (outermost first).
inline std::optional<int64_t> extent_of_canvas(const PerSample<std::vector<float>>& size, int sample, int i, int n) {
  if (!size.given()) return {};
  const auto v = size.values(sample);
  if (v.empty()) return {};
  if (static_cast<int>(v.size()) != n && v.size() != 1)
    bad_argument("size has {} values, but there are {} axes", v.size(), n);
  const double e = v[v.size() == 1 ? 0 : i];
  if (!(e < 2147483648.0)) bad_argument("a size of {} is too large", e);
  const double extent = std::max(e, 0.0);  // constants are rounded, tensors truncated, as in DALI
  return std::max<int64_t>(1, size.batch() ? static_cast<int64_t>(extent) : std::llround(extent));
}

struct WarpArguments {
  PerSample<std::vector<float>> size;
  Optional<float> fill_value;
  Optional<std::string> border_mode;
  int interp_type = 1;
  DType dtype = DType::none, old_dtype = DType::none;
  DType input_dtype = DType::none;

  void check_warp() {
    if (interp_type < 0 || interp_type > 2)
      bad_argument("interp_type must be INTERP_NN (0), INTERP_LINEAR (1) or INTERP_CUBIC (2), got {}", interp_type);
    if (dtype == DType::none) dtype = old_dtype;
    if (fill_value.given() && border() != kBorderConstant)
      bad_argument("border_mode='{}' reads no fill_value: leave one of them out", *border_mode);
  }
  int border() const {
    if (border_mode.given()) return image_border("border_mode", *border_mode);
    return fill_value.given() ? kBorderConstant : kBorderClamp;
  }
  // As the input's type holds it: it is blended with samples as one of them.
  float fill(DType type) const { return fill_value.given() ? as_sample(*fill_value, type) : 0.0f; }
  std::optional<int64_t> given_extent(int sample, int i, int n) const { return extent_of_canvas(size, sample, i, n); }
  // The extent along an axis that needs no map; -1: another.
  int64_t plain_extent(int sample, char axis, int64_t otherwise) const {
    const int n = size.given() ? static_cast<int>(size[sample].size()) : 0;
    const int i = n - (axis == 'W' ? 1 : axis == 'H' ? 2 : 3);
    return n == 1 ? *given_extent(sample, 0, 1) : n > 0 && i >= 0 && i < n ? *given_extent(sample, i, n) : otherwise;
  }
  // The spatial dimensions of the input, outermost first.
  static std::vector<int> spatial(const Placement& p) {
    std::vector<int> dims;
    for (char c : {'D', 'H', 'W'})
      if (p.dim(c) >= 0) dims.push_back(p.dim(c));
    return dims;
  }
  static float as_sample(float v, DType type) {
    if (type == DType::none || type == DType::float32 || type == DType::float64) return v;
    if (type == DType::float16) return Half(v);
    if (type == DType::bfloat16) return BFloat16(v);
    if (type == DType::bool_) return v != 0;
    const int bits = static_cast<int>(size_of(type)) * 8 - !is_unsigned(type);
    const double high = std::ldexp(1.0, bits) - 1, low = is_unsigned(type) ? 0 : -high - 1;
    const double r = std::rint(static_cast<double>(v));
    return v == v ? static_cast<float>(std::clamp(r, low, high)) : 0.0f;
  }
};

// The operators that run in stages. `Arguments` gives the map, from output to input:
//   AffineMap affine_map(SampleFrame at, int dims, const int64_t* extents) const;  // extents: x, y[, z]
//   int64_t extent_known(int sample, char axis, int64_t in) const;                 // of the result, without the map
template <class Arguments> struct StageWarp : WarpOperator, Arguments {
  void check(std::span<const ValueType> in) override { this->input_dtype = in[0].dtype; }
  DType output_dtype(std::span<const ValueType>) const override { return this->dtype; }
  Layout input_layout(const ValueType& in) const override { return image_layout(in); }
  void map(const SampleContext& s, Placement& p) const override {
    const std::vector<int> dims = this->spatial(p);
    const int n = static_cast<int>(dims.size());
    int64_t extents[3];
    for (int i = 0; i < n; ++i) extents[i] = p.extent(dims[n - 1 - i]);
    AffineMap map = this->affine_map(s.values(), n, extents);
    map.kind = this->interp_type == 0 ? FilterKind::nearest : FilterKind::linear;
    map.border_fill = this->border() == kBorderConstant;
    if (map.border_fill) p.fill(this->fill(this->input_dtype));
    p.affine(map);
  }
  int64_t out_extent(const SampleContext& s, char axis, int64_t in) const override {
    return axis == 'D' || axis == 'H' || axis == 'W' ? this->extent_known(s.index, axis, in) : in;
  }
};

template <class Op> Schema<Op>&& warp_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("size", &Op::size, "Extents of the output, outermost first: (height, width) or (depth, height, width).")
      .arg("fill_value", &Op::fill_value,
           "Value of a \"constant\" border, rounded to the type of the input; default: 0.", any_number)
      .arg("border_mode", &Op::border_mode,
           "The area outside the input: \"constant\", \"replicate\", \"reflect\", \"reflect_101\", \"wrap\"; the last "
           "three for images alone. Default: constant if there is a fill_value, else replicate.")
      .arg("interp_type", &Op::interp_type,
           "The interpolation: INTERP_NN, INTERP_LINEAR or, for images, INTERP_CUBIC (a = -0.75, as OpenCV's).")
      .arg("dtype", &Op::dtype, "Type of the result; default: the input's.")
      .arg("output_dtype", &Op::old_dtype, "Deprecated name of dtype.");
}

}  // namespace penstock
