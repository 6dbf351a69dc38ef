// SPDX-License-Identifier: Apache-2.0
// The shape that reshape and reinterpret give to existing elements.
#pragma once
#include <cmath>

#include "ops/shared/axes.h"
#include "operator/operator.h"

namespace penstock {

struct NewShape {
  PerSample<std::vector<int64_t>> shape;
  PerSample<std::vector<float>> rel_shape;
  PerSample<std::vector<int64_t>> src_dims;
  Optional<std::string> layout;

  template <class Op> static Schema<Op>&& arguments(Schema<Op>&& s) {
    return std::move(s)
        .arg("shape", &Op::shape,
             "The shape; one extent may be -1 and is computed from the others. May be given as a second input.")
        .arg("rel_shape", &Op::rel_shape,
             "Factors of the extents of the input instead; -1 is computed from the others.")
        .arg("src_dims", &Op::src_dims,
             "Dimension i of the output (or of the shape that rel_shape multiplies) has the extent of input dimension "
             "src_dims[i]; -1 adds a dimension of extent 1.")
        .arg("layout", &Op::layout, "Layout of the output.")
        .argument_inputs({"shape"});
  }
  void check_new_shape(bool something_else) const {
    if (shape.given() && rel_shape.given()) bad_argument("shape and rel_shape are mutually exclusive");
    if (shape.given() && src_dims.given()) bad_argument("shape and src_dims are mutually exclusive");
    if (!shape.given() && !rel_shape.given() && !src_dims.given() && !layout.given() && !something_else)
      bad_argument("one of shape, rel_shape, src_dims and layout must be given");
  }
  ValueType type_with(const ValueType& in, DType dtype) const {
    ValueType out{dtype, ndim_of(in.ndim), {}};
    if (layout.given()) out.layout = Layout(*layout);
    else if (out.ndim == in.ndim) out.layout = in.layout;
    else if (src_dims.constant() && src_dims.given() && !rel_shape.given()) out.layout = moved_layout(in.layout);
    if (out.ndim >= 0 && !out.layout.empty() && out.layout.size() != out.ndim)
      bad_argument("layout '{}' has {} letters for {} dimensions", out.layout.str(), out.layout.size(), out.ndim);
    return out;
  }
  // For an input whose elements have in_bytes, as elements of out_bytes.
  Shape new_shape(int sample, const Shape& in, int64_t in_bytes = 1, int64_t out_bytes = 1) const {
    Shape result;
    const Shape source = source_of(sample, in);
    if (shape.given()) {
      result = Shape(std::span<const int64_t>(shape[sample]));
    } else if (rel_shape.given()) {
      const std::vector<float> factors = rel_shape[sample];
      for (size_t i = 0; i < factors.size(); ++i) {
        const int64_t extent = static_cast<int>(i) < source.size() ? source[static_cast<int>(i)] : 1;
        if (factors[i] >= 0 && extent < 0) return Shape::filled(static_cast<int>(factors.size()), -1);
        result.push_back(factors[i] < 0 ? -1 : std::llround(static_cast<double>(factors[i]) * extent));
      }
    } else {
      result = source;
      if (in_bytes != out_bytes) {  // the innermost dimension grows or shrinks
        if (result.empty()) bad_argument("a value of {} bytes is not a multiple of {} bytes", in_bytes, out_bytes);
        int64_t& last = result[result.size() - 1];
        int64_t bytes = 0;
        if (__builtin_mul_overflow(last, in_bytes, &bytes)) bad_argument("rows of {} elements are too long", last);
        if (last >= 0 && bytes % out_bytes != 0)
          bad_argument("rows of {} bytes are not a multiple of elements of {} bytes", bytes, out_bytes);
        if (last >= 0) last = bytes / out_bytes;
      }
    }
    if (in.known()) settle(result, in, in_bytes, out_bytes);
    return result;
  }

 private:
  template <class T> static int length(const PerSample<T>& p) {
    if (!p.batch()) return static_cast<int>(p.one().size());
    return p.batch()->size() > 0 ? static_cast<int>(p.batch()->shape(0).volume()) : -1;
  }
  int ndim_of(int in) const {
    if (shape.given()) return length(shape);
    if (rel_shape.given()) return length(rel_shape);
    return src_dims.given() ? length(src_dims) : in;
  }
  Layout moved_layout(const Layout& in) const {
    std::string letters;
    for (int64_t d : src_dims.one())
      if (d >= 0 && d < in.size()) letters += in[static_cast<int>(d)];
    return letters.size() == src_dims.one().size() ? Layout(letters) : Layout();
  }
  Shape source_of(int sample, const Shape& in) const {
    if (!src_dims.given()) return in;
    Shape s;
    for (int64_t d : src_dims[sample]) {
      if (d < -1 || d >= in.size()) bad_argument("src_dims names dimension {}, but the shape is {}", d, in.text());
      s.push_back(d < 0 ? 1 : in[static_cast<int>(d)]);
    }
    return s;
  }
  // Replaces the -1 and checks the number of elements.
  static void settle(Shape& s, const Shape& in, int64_t in_bytes, int64_t out_bytes) {
    int open = -1;
    int64_t rest = 1;
    for (int d = 0; d < s.size(); ++d) {
      if (s[d] >= 0) {
        if (__builtin_mul_overflow(rest, s[d], &rest)) bad_argument("the shape {} is too large", s.text());
      } else if (open >= 0) {
        bad_argument("only one extent may be -1, got two");
      } else {
        open = d;
      }
    }
    const int64_t bytes = in.volume() * in_bytes, volume = bytes % out_bytes == 0 ? bytes / out_bytes : -1;
    if (open >= 0 && rest > 0 && volume >= 0 && volume % rest == 0) s[open] = volume / rest;
    else if (open >= 0 || rest != volume)
      bad_argument("{} elements of the shape {} do not fit into the shape {}{}", in.volume(), in.text(), s.text(),
                   in_bytes == out_bytes ? "" : fmt::format(" of elements of {} bytes", out_bytes));
  }
};

}  // namespace penstock
