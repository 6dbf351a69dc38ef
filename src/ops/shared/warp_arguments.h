// SPDX-License-Identifier: Apache-2.0
// Shared by rotate and warp_affine: canvas, interpolation, border.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "operator/any_number.h"
#include "operator/image_layout.h"
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

struct WarpArguments : WarpOperator {
  PerSample<std::vector<float>> size;
  Optional<float> fill_value;
  int interp_type = 1;
  DType dtype = DType::none, old_dtype = DType::none;
  DType input_dtype = DType::none;

  void check_warp() {
    if (interp_type != 0 && interp_type != 1)
      bad_argument("interp_type must be INTERP_NN (0) or INTERP_LINEAR (1), got {}", interp_type);
    if (dtype == DType::none) dtype = old_dtype;
  }
  void check(std::span<const ValueType> in) override { input_dtype = in[0].dtype; }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  Layout input_layout(const ValueType& in) const override { return image_layout(in); }
  std::optional<int64_t> given_extent(int sample, int i, int n) const { return extent_of_canvas(size, sample, i, n); }
  // The spatial dimensions of the input, outermost first.
  static std::vector<int> spatial(const Placement& p) {
    std::vector<int> dims;
    for (char c : {'D', 'H', 'W'})
      if (p.dim(c) >= 0) dims.push_back(p.dim(c));
    return dims;
  }
  AffineMap start_map(int dims, Placement& p) const {
    AffineMap a;
    a.dims = dims;
    a.kind = interp_type == 0 ? FilterKind::nearest : FilterKind::linear;
    a.border_fill = fill_value.given();
    if (fill_value.given()) p.fill(as_sample(*fill_value));
    return a;
  }

  // The fill as the input's type would hold it: it is blended with samples as one of them.
  float as_sample(float v) const {
    if (input_dtype == DType::none || input_dtype == DType::float32 || input_dtype == DType::float64) return v;
    if (input_dtype == DType::float16) return Half(v);
    if (input_dtype == DType::bool_) return v != 0;
    const int bits = static_cast<int>(size_of(input_dtype)) * 8 - !is_unsigned(input_dtype);
    const double high = std::ldexp(1.0, bits) - 1, low = is_unsigned(input_dtype) ? 0 : -high - 1;
    const double r = std::rint(static_cast<double>(v));
    return v == v ? static_cast<float>(std::clamp(r, low, high)) : 0.0f;
  }
};

template <class Op> Schema<Op>&& warp_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("size", &Op::size, "Extents of the output, outermost first: (height, width) or (depth, height, width).")
      .arg("fill_value", &Op::fill_value,
           "Value outside the input, rounded to its type; default: the nearest sample at the edge.", any_number)
      .arg("interp_type", &Op::interp_type, "The interpolation: INTERP_NN or INTERP_LINEAR.")
      .arg("dtype", &Op::dtype, "Type of the result; default: the input's.")
      .arg("output_dtype", &Op::old_dtype, "Deprecated name of dtype.");
}

}  // namespace penstock
